# SPDX-License-Identifier: GPL-2.0-only
"""Objects of Kubernetes, held to the types of its API as the client library has them.

daemonset.py check FILE...    a line for each object, and for each spoiled one: "NAME<tab>yes", or what is wrong with it
daemonset.py get FILE KEY     of the DaemonSet's container, as JSON
daemonset.py serve FILE CONFIG     CONFIG, of an OCI bundle, with what the DaemonSet gives its container
daemonset.py alone CONFIG ARG...   the same with what the image says itself, without rights, and these arguments
"""

import copy
import json
import re
import sys

import yaml
from kubernetes.client import models

MODELS = {"Namespace": "V1Namespace", "DaemonSet": "V1DaemonSet", "Service": "V1Service",
          "NetworkPolicy": "V1NetworkPolicy"}
PLAIN = {"str": str, "bool": bool, "int": int}


def wrong(value, kind, at):
    """What is wrong with a value that is to be of a type of the API; the models know required fields and allowed values."""
    if kind == "object":  # an int or a string, as a port
        return [] if isinstance(value, (int, str)) else [f"{at}: neither a number nor a string"]
    if kind in PLAIN:
        return [] if type(value) is PLAIN[kind] else [f"{at}: {value!r} is no {kind}"]
    inner = re.fullmatch(r"list\[(.*)\]", kind)
    if inner:
        if not isinstance(value, list):
            return [f"{at}: no list"]
        return [w for i, v in enumerate(value) for w in wrong(v, inner[1], f"{at}[{i}]")]
    inner = re.fullmatch(r"dict\(str, (.*)\)", kind)
    if inner:
        return [w for k, v in value.items() for w in wrong(v, inner[1], f"{at}.{k}")]
    model = getattr(models, kind)
    fields = {theirs: ours for ours, theirs in model.attribute_map.items()}
    found, arguments = [], {}
    for key, v in value.items():
        if key not in fields:
            found.append(f"{at}: there is no {key}")
            continue
        found += wrong(v, model.openapi_types[fields[key]], f"{at}.{key}")
        arguments[fields[key]] = v
    try:
        model(**arguments)
    except ValueError as e:
        found.append(f"{at}: {e}")
    return found


def monitor_wrong(monitor, service):
    """The operator's types are in no package: it names a port and labels of the service, and where the page is."""
    spec, found = monitor["spec"], []
    if monitor["apiVersion"] != "monitoring.coreos.com/v1" or set(spec) != {"selector", "endpoints"}:
        found.append("other keys")
    if not spec["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items():
        found.append("the service does not have these labels")
    for e in spec["endpoints"]:
        if e["port"] not in [p["name"] for p in service["spec"]["ports"]] or e["path"] != "/metrics":
            found.append("the service has no such port, or the page is elsewhere")
    return found


def together_wrong(objects):
    """What names another has to exist."""
    found = []
    pod = objects["DaemonSet"]["spec"]["template"]
    container = pod["spec"]["containers"][0]
    labels = pod["metadata"]["labels"].items()
    ports = [p["name"] for p in container["ports"]]
    for selector in (objects["DaemonSet"]["spec"]["selector"]["matchLabels"], objects["Service"]["spec"]["selector"],
                     objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]):
        if not selector.items() <= labels:
            found.append("a selector finds no pod")
    named = [container[p]["httpGet"]["port"] for p in ("startupProbe", "livenessProbe", "readinessProbe")]
    named += [p["targetPort"] for p in objects["Service"]["spec"]["ports"]]
    named += [p["port"] for i in objects["NetworkPolicy"]["spec"]["ingress"] for p in i["ports"]]
    if set(named) != set(ports):
        found.append("a port is not there")
    if {m["name"] for m in container["volumeMounts"]} != {v["name"] for v in pod["spec"]["volumes"]}:
        found.append("a volume is not there")
    if {o["metadata"]["namespace"] for k, o in objects.items() if k != "Namespace"} != {objects["Namespace"]["metadata"]["name"]}:
        found.append("one is in another namespace")
    return found


def load(files):
    return {o["kind"]: o for f in files for o in yaml.safe_load_all(open(f, encoding="utf-8"))}


def tell(name, found):
    print(name, "; ".join(found) or "yes", sep="\t")


def check(files):
    objects = load(files)
    for kind, model in MODELS.items():
        tell(f"{kind} is one of the API", wrong(objects[kind], model, kind))
    tell("ServiceMonitor finds the service", monitor_wrong(objects["ServiceMonitor"], objects["Service"]))
    tell("what they name is there", together_wrong(objects))

    def spoiled(name, change):
        other = copy.deepcopy(objects["DaemonSet"])
        change(other["spec"]["template"]["spec"]["containers"][0], other["spec"])
        tell(f"{name} is refused", [] if wrong(other, "V1DaemonSet", "") else ["it is not"])

    spoiled("a misspelt key", lambda c, _: c["securityContext"].update(readOnlyRootFileSystem=True))
    spoiled("a string for a number", lambda c, _: c["livenessProbe"].update(periodSeconds="30"))
    spoiled("one without a selector", lambda _, spec: spec.pop("selector"))


def container_of(file):
    return load([file])["DaemonSet"]["spec"]["template"]["spec"]["containers"][0]


def get(file, key):
    value = container_of(file)
    for k in key.split("."):
        value = value[k]
    print(json.dumps(value))


def runtime_default(capabilities):
    """The system calls that cri-o and podman let a container with these capabilities make, of Debian's package of their profile."""
    with open("/usr/share/containers/seccomp.json", encoding="utf-8") as f:
        profile = json.load(f)

    def holds(rule):
        wants, refuses = rule.get("includes") or {}, rule.get("excludes") or {}
        return (set(wants.get("caps", [])) <= set(capabilities) and "amd64" in wants.get("arches", ["amd64"])
                and not set(refuses.get("caps", [])) & set(capabilities) and "amd64" not in refuses.get("arches", []))

    calls = [{k: rule[k] for k in ("names", "action", "args", "errnoRet") if rule.get(k)}
             for rule in profile["syscalls"] if holds(rule)]
    assert len(calls) > 3
    return {"defaultAction": profile["defaultAction"], "defaultErrnoRet": profile["defaultErrnoRet"],
            "architectures": ["SCMP_ARCH_X86_64"], "syscalls": calls}


def write_bundle(file, change):
    """What a kubelet has a runtime do for any container; change() does the rest."""
    with open(file, encoding="utf-8") as f:
        spec = json.load(f)
    mounts = {"/proc": ("proc", "proc", ["nosuid", "noexec", "nodev"]),
              "/dev": ("tmpfs", "tmpfs", ["nosuid", "strictatime", "mode=755"]),
              "/sys": ("sysfs", "sysfs", ["nosuid", "noexec", "nodev", "ro"])}
    spec["mounts"] = [{"destination": at, "type": kind, "source": source, "options": options}
                      for at, (kind, source, options) in mounts.items()]
    # What containerd and cri-o keep from every container.
    spec["linux"] = {"namespaces": [{"type": t} for t in ("pid", "ipc", "uts", "mount", "network")],
                     "maskedPaths": ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
                                     "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"],
                     "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]}
    spec["root"]["readonly"] = True
    spec["process"].update(terminal=False, noNewPrivileges=True, capabilities={})
    change(spec, spec["process"])
    spec["linux"]["seccomp"] = runtime_default(spec["process"]["capabilities"].get("bounding", []))
    with open(file, "w", encoding="utf-8") as f:
        json.dump(spec, f)


def serve(file, config):
    pod = load([file])["DaemonSet"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    rights = container["securityContext"]
    paths = {v["name"]: v["hostPath"]["path"] for v in pod["volumes"]}

    def change(spec, process):
        assert rights["capabilities"]["drop"] == ["ALL"] and not rights["privileged"]
        assert rights["seccompProfile"] == {"type": "RuntimeDefault"}
        capabilities = ["CAP_" + name for name in rights["capabilities"]["add"]]
        process.update(args=process["args"][:1] + container["args"],
                       user={"uid": rights["runAsUser"], "gid": rights["runAsGroup"]},
                       noNewPrivileges=not rights.get("allowPrivilegeEscalation", True),
                       capabilities={s: capabilities for s in ("bounding", "effective", "permitted")})
        spec["root"]["readonly"] = rights["readOnlyRootFilesystem"]
        limit = re.fullmatch(r"(\d+)Gi", container["resources"]["limits"]["memory"])
        spec["linux"]["resources"] = {"memory": {"limit": int(limit[1]) << 30}}
        for m in container["volumeMounts"]:
            spec["mounts"].append({"destination": m["mountPath"], "type": "bind", "source": paths[m["name"]],
                                   "options": ["rbind", "rprivate", "ro" if m["readOnly"] else "rw"]})

    write_bundle(config, change)


def alone(config, *arguments):
    write_bundle(config, lambda _, process: process.update(args=process["args"][:1] + list(arguments)))


if __name__ == "__main__":
    {"check": lambda *a: check(a), "get": get, "serve": serve, "alone": alone}[sys.argv[1]](*sys.argv[2:])
