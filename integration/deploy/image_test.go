package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instruction is a line of the Dockerfile.
type instruction struct{ name, text string }

// stages are the instructions of each FROM.
func stages(t *testing.T) (all [][]instruction) {
	t.Helper()
	for line := range strings.Lines(read(t, "deploy", "Dockerfile")) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case !ok || name == "#":
		case name == "FROM":
			all = append(all, []instruction{{name, text}})
		default:
			all[len(all)-1] = append(all[len(all)-1], instruction{name, text})
		}
	}
	if len(all) != 2 {
		t.Fatalf("%d stages; want one that builds and one that runs", len(all))
	}
	return all
}

func texts(stage []instruction, name string) (found []string) {
	for _, in := range stage {
		if in.name == name {
			found = append(found, in.text)
		}
	}
	return found
}

func text(t *testing.T, stage []instruction, name string) string {
	t.Helper()
	found := texts(stage, name)
	if len(found) != 1 {
		t.Fatalf("%d lines %s in a stage; want one", len(found), name)
	}
	return found[0]
}

func list(t *testing.T, stage []instruction, name string) (words []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(text(t, stage, name)), &words); err != nil {
		t.Fatalf("%s is no list: it would need a shell: %v", name, err)
	}
	return words
}

// The image is built by the Makefile, so its flags are those of every build, with
// the Go version that the module asks for.
func TestImageIsBuiltAsEverywhere(t *testing.T) {
	t.Parallel()
	build := stages(t)[0]
	if run := text(t, build, "RUN"); !strings.HasPrefix(run, "make build ") {
		t.Errorf("the image is built with %q; want make build", run)
	}
	version := regexp.MustCompile(`(?m)^go ([0-9]+\.[0-9]+)`).FindStringSubmatch(read(t, "go.mod"))
	if from := text(t, build, "FROM"); from != "golang:"+version[1]+" AS build" {
		t.Errorf("built from %s, and the module wants go %s", from, version[1])
	}
	if _, err := os.Stat(path(t, "deploy", "Dockerfile.dockerignore")); err != nil {
		t.Error(err)
	}
}

// Nothing but the binary, as nobody in particular.
func TestImageHasNoShellAndNoRoot(t *testing.T) {
	t.Parallel()
	run := stages(t)[1]
	if from := text(t, run, "FROM"); from != "scratch" {
		t.Errorf("the image begins with %s; want scratch", from)
	}
	if user := text(t, run, "USER"); !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*$`).MatchString(user) {
		t.Errorf("it runs as %s; want numbers, which runAsNonRoot can check", user)
	}
	if cmds := slices.Concat(texts(run, "RUN"), texts(run, "HEALTHCHECK")); len(cmds) > 0 {
		t.Errorf("%q need programs that are not there", cmds)
	}
	program := list(t, run, "ENTRYPOINT")
	if copies := texts(run, "COPY"); !slices.Contains(copies, "--from=build /src/bin/semel "+program[0]) {
		t.Errorf("no line puts the binary at %s: %q", program[0], copies)
	}
}

// The real binary takes the image's variables, and listens and keeps its records
// where the image says.
func TestImageRuns(t *testing.T) {
	t.Parallel()
	run := stages(t)[1]
	settings := takes(t, list(t, run, "CMD"), append(texts(run, "ENV"), "SEMEL_UPSTREAM=http://127.0.0.1:9000", "SEMEL_PRINCIPAL=global"))
	for _, name := range []string{"listen", "admin"} {
		_, port, _ := strings.Cut(settings[name], ":")
		if !strings.HasPrefix(settings[name], "0.0.0.0:") || !slices.Contains(strings.Fields(text(t, run, "EXPOSE")), port) {
			t.Errorf("%s is %s; want a port that is exposed, on every address", name, settings[name])
		}
	}
	volume := text(t, run, "VOLUME")
	if settings["store"] != "sqlite:"+volume+"/semel.db" || text(t, run, "WORKDIR") != volume {
		t.Errorf("records are in %s, the volume is %s", settings["store"], volume)
	}
	if copies := texts(run, "COPY"); !slices.ContainsFunc(copies, func(c string) bool {
		return strings.Contains(c, "--chown="+text(t, run, "USER")) && strings.HasSuffix(c, " "+volume)
	}) {
		t.Errorf("the volume %s does not belong to the user: %q", volume, copies)
	}
}

// As soon as the binary can ask for its own health, the image should.
func TestImageHealth(t *testing.T) {
	t.Parallel()
	help, err := exec.Command(binary, "help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)^  (health|ready|ping)`).Match(help) {
		t.Errorf("the binary has a command for its health; name it in HEALTHCHECK:\n%s", help)
	}
}
