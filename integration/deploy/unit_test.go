package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// unit are the settings of the systemd unit: every value of a name, in order.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	values := map[string][]string{}
	for line := range strings.Lines(read(t, "deploy", "systemd", "semel-proxy.service")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			values[name] = append(values[name], value)
		}
	}
	return values
}

// What the unit runs is what the binary can do, with the file and the variables
// that the repository shows.
func TestUnitRuns(t *testing.T) {
	t.Parallel()
	u := unit(t)
	specifiers := strings.NewReplacer("%S", "/var/lib", "%d", "/run/credentials/semel-proxy.service", "/etc/semel/proxy.yaml", path(t, "deploy", "systemd", "proxy.yaml"))
	environ := strings.Split(specifiers.Replace(strings.Join(u["Environment"], "\n")), "\n")
	start := strings.Fields(specifiers.Replace(u["ExecStart"][0]))
	settings := takes(t, start[1:], environ)
	if state := "/var/lib/" + u["StateDirectory"][0]; !strings.HasPrefix(settings["store"], "sqlite:"+state+"/") || specifiers.Replace(u["WorkingDirectory"][0]) != state {
		t.Errorf("records are in %s; want the state directory %s", settings["store"], state)
	}
	if credential, _, _ := strings.Cut(u["LoadCredential"][0], ":"); !strings.HasSuffix(settings["secret-file"], "/"+credential) {
		t.Errorf("the secret is read from %s and given as %s", settings["secret-file"], credential)
	}
	check := strings.Fields(specifiers.Replace(u["ExecReload"][0]))
	if check[0] != start[0] {
		t.Errorf("the reload runs %s, the start %s", check[0], start[0])
	}
	cmd := exec.Command(binary, check[1:]...)
	cmd.Env = environ
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%q: %v\n%s", check, err, out)
	}
}

// A gateway that is killed before its requests are recorded leaves doubts.
func TestUnitWaitsLongerThanTheGateway(t *testing.T) {
	t.Parallel()
	u := unit(t)
	settings := takes(t, []string{"proxy", "--config", path(t, "deploy", "systemd", "proxy.yaml")}, nil)
	needs, err := time.ParseDuration(settings["shutdown-timeout"])
	if err != nil {
		t.Fatal(err)
	}
	waits, err := strconv.Atoi(u["TimeoutStopSec"][0])
	if err != nil {
		t.Fatal(err)
	}
	if time.Duration(waits)*time.Second < needs+10*time.Second || u["KillSignal"][0] != "SIGTERM" {
		t.Errorf("%s, then SIGKILL after %ds; the gateway takes up to %v", u["KillSignal"][0], waits, needs)
	}
}

func TestUnitIsHardened(t *testing.T) {
	t.Parallel()
	u := unit(t)
	for name, want := range map[string]string{
		"DynamicUser": "yes", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes",
		"CapabilityBoundingSet": "", "RestrictAddressFamilies": "AF_INET AF_INET6", "MemoryDenyWriteExecute": "yes", "StateDirectoryMode": "0700",
	} {
		if !slices.Equal(u[name], []string{want}) {
			t.Errorf("%s is %q, want %q", name, u[name], want)
		}
	}
}

// systemd's own opinion, where it is installed: no mistake, and an exposure that it
// calls OK (below 2 of 10).
func TestUnitPassesSystemd(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not installed; the other tests of the unit stand alone")
		return
	}
	file := filepath.Join(t.TempDir(), "semel-proxy.service")
	installed := strings.ReplaceAll(read(t, "deploy", "systemd", "semel-proxy.service"), unitProgram(t), binary)
	if err := os.WriteFile(file, []byte(installed), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", "--man=no", file}, {"security", "--offline=yes", "--threshold=20", file}} {
		if out, err := exec.Command(analyze, args...).CombinedOutput(); err != nil || args[0] == "verify" && strings.Contains(string(out), "semel-proxy.service") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

func unitProgram(t *testing.T) string { return strings.Fields(unit(t)["ExecStart"][0])[0] }
