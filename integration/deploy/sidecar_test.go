package deploy

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// object is what the manifest's kinds have and the tests read.
type object struct {
	Kind string
	Spec struct {
		Replicas int
		Ports    []struct {
			TargetPort string `yaml:"targetPort"`
		}
		Template             struct{ Spec pod }
		VolumeClaimTemplates []struct {
			Metadata struct{ Name string }
		} `yaml:"volumeClaimTemplates"`
	}
}

type pod struct {
	EnableServiceLinks *bool `yaml:"enableServiceLinks"`
	Grace              int   `yaml:"terminationGracePeriodSeconds"`
	SecurityContext    struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
		FSGroup      int  `yaml:"fsGroup"`
	} `yaml:"securityContext"`
	Containers []container
	Volumes    []struct{ Name string }
}

type container struct {
	Name      string
	Args      []string
	Env       []struct{ Name, Value string }
	Ports     []port
	Liveness  probe `yaml:"livenessProbe"`
	Readiness probe `yaml:"readinessProbe"`
	Startup   probe `yaml:"startupProbe"`
	Lifecycle struct {
		PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
	}
	Resources struct{ Requests, Limits map[string]string }
	Security  struct {
		User         int   `yaml:"runAsUser"`
		Escalation   *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities struct{ Drop []string }
	} `yaml:"securityContext"`
	Mounts []mount `yaml:"volumeMounts"`
}

type port struct {
	Name   string
	Number int `yaml:"containerPort"`
}

type probe struct {
	HTTP struct{ Path, Port string } `yaml:"httpGet"`
}

type mount struct {
	Name string
	Path string `yaml:"mountPath"`
}

// sidecar returns the manifest's Service and StatefulSet.
func sidecar(t *testing.T) (service, set object) {
	t.Helper()
	all := decodeAll[object](t, read(t, "deploy", "kubernetes", "sidecar.yaml"), false)
	if len(all) != 2 || all[0].Kind != "Service" || all[1].Kind != "StatefulSet" || len(all[1].Spec.Template.Spec.Containers) != 2 {
		t.Fatalf("want a Service and a StatefulSet with the gateway and a service: %+v", all)
	}
	return all[0], all[1]
}

// gatewayOf returns the pod, the gateway's container, and what the real binary
// makes of its arguments and variables.
func gatewayOf(t *testing.T) (pod, container, map[string]string) {
	t.Helper()
	_, set := sidecar(t)
	gateway := set.Spec.Template.Spec.Containers[0]
	var environ []string
	for _, v := range gateway.Env {
		environ = append(environ, v.Name+"="+v.Value)
	}
	return set.Spec.Template.Spec, gateway, takes(t, gateway.Args, environ)
}

func TestSidecarPortsAndProbes(t *testing.T) {
	t.Parallel()
	service, _ := sidecar(t)
	_, gateway, settings := gatewayOf(t)
	for i, name := range []string{"listen", "admin"} {
		_, number, _ := strings.Cut(settings[name], ":")
		if want := gateway.Ports[i]; !strings.HasPrefix(settings[name], "0.0.0.0:") || number != strconv.Itoa(want.Number) {
			t.Errorf("--%s is %s, the container's port %+v", name, settings[name], want)
		}
	}
	if to := service.Spec.Ports[0].TargetPort; to != gateway.Ports[0].Name {
		t.Errorf("the service leads to the port %s, not to the gateway", to)
	}
	admin := gateway.Ports[1].Name
	for path, p := range map[string][]probe{"/healthz": {gateway.Liveness, gateway.Startup}, "/readyz": {gateway.Readiness}} {
		for _, probe := range p {
			if probe.HTTP.Path != path || probe.HTTP.Port != admin {
				t.Errorf("a probe asks for %+v; want %s on %s", probe.HTTP, path, admin)
			}
		}
	}
}

// One pod, one file, on a volume that outlives the pod.
func TestSidecarKeepsItsRecords(t *testing.T) {
	t.Parallel()
	_, set := sidecar(t)
	_, gateway, settings := gatewayOf(t)
	if set.Spec.Replicas != 1 {
		t.Errorf("%d replicas on SQLite: each has records of its own", set.Spec.Replicas)
	}
	claim := set.Spec.VolumeClaimTemplates[0].Metadata.Name
	if !slices.ContainsFunc(gateway.Mounts, func(m mount) bool {
		return m.Name == claim && strings.HasPrefix(settings["store"], "sqlite:"+m.Path+"/")
	}) {
		t.Errorf("records are in %s, which is not on the volume %s: %+v", settings["store"], claim, gateway.Mounts)
	}
	if !slices.ContainsFunc(gateway.Mounts, func(m mount) bool { return strings.HasPrefix(settings["secret-file"], m.Path+"/") }) {
		t.Errorf("the secret %s is on no volume", settings["secret-file"])
	}
	if text := read(t, "deploy", "kubernetes", "sidecar.yaml"); !strings.Contains(text, "ONE POD") {
		t.Error("the manifest does not warn that SQLite means one pod")
	}
}

// The gateway stops before the service whose answers it waits for, and both before
// they are killed.
func TestSidecarStopsInOrder(t *testing.T) {
	t.Parallel()
	pod, gateway, settings := gatewayOf(t)
	timeout, err := time.ParseDuration(settings["shutdown-timeout"])
	if err != nil {
		t.Fatal(err)
	}
	stopped := gateway.Lifecycle.PreStop.Sleep.Seconds + int(timeout.Seconds())
	service := pod.Containers[1].Lifecycle.PreStop.Sleep.Seconds
	if gateway.Lifecycle.PreStop.Sleep.Seconds == 0 || service <= stopped || pod.Grace < service+10 {
		t.Errorf("the gateway has stopped after %ds, the service is told to after %ds, everything is killed after %ds", stopped, service, pod.Grace)
	}
}

func TestSidecarIsHardened(t *testing.T) {
	t.Parallel()
	pod, gateway, _ := gatewayOf(t)
	s := gateway.Security
	user := text(t, stages(t)[1], "USER")
	if !pod.SecurityContext.RunAsNonRoot || s.Escalation == nil || *s.Escalation || !s.ReadOnly || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("%+v in %+v", s, pod.SecurityContext)
	}
	if user != strconv.Itoa(s.User)+":"+strconv.Itoa(pod.SecurityContext.FSGroup) {
		t.Errorf("the image is made for %s; the pod runs it as %d, its volume belongs to %d", user, s.User, pod.SecurityContext.FSGroup)
	}
	if gateway.Resources.Requests["memory"] == "" || gateway.Resources.Limits["memory"] == "" {
		t.Error("the gateway has no request and no limit for memory")
	}
}

// Kubernetes makes variables of the names of services. One called semel would keep
// the gateway from starting, unless the pod asks for none.
func TestSidecarGetsNoServiceVariables(t *testing.T) {
	t.Parallel()
	pod, _, _ := gatewayOf(t)
	if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
		t.Error("enableServiceLinks is not false")
	}
	out, err := configPrint(nil, []string{"SEMEL_UPSTREAM=http://127.0.0.1:9000", "SEMEL_PRINCIPAL=global", "SEMEL_SERVICE_HOST=10.0.0.1"})
	if err == nil || !strings.Contains(string(out), "SEMEL_SERVICE_HOST") {
		t.Errorf("the binary takes SEMEL_SERVICE_HOST (%v); the manifest's comment is out of date:\n%s", err, out)
	}
}
