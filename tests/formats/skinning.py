"""Evaluates the animated meshes of a glTF file and compares every vertex at every time with Kiln's.

usage: skinning.py blender|formulas FILE.glb FOLDER

FOLDER holds plan.json ({"times": [seconds], "objects": [[node name, vertex count]]}) and one file of float64 for each
object, 0.f64 and so on: times x vertices x 3, Y up, metres. "blender" imports the file and lets the dependency graph
evaluate it; "formulas" is the glTF specification written down with 4 x 4 matrices, one vertex after the other. Ends with
1 and says what differs if anything does.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

TOLERANCE = 1e-5
MOVED = 0.1


def from_blender(path, times, names):
    """For each object: times x vertices x 3."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(path))
    scene = bpy.context.scene
    fps = scene.render.fps / scene.render.fps_base
    # An animated node with a skin becomes two objects; the mesh keeps its own name.
    meshes = [thing for thing in bpy.data.objects if thing.type == "MESH"]
    objects = [next(mesh for mesh in meshes if name in (mesh.name, mesh.data.name)) for name in names]
    found = [[] for _ in names]
    for seconds in times:
        frame = int(seconds * fps)
        scene.frame_set(frame, subframe=seconds * fps - frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for thing, frames in zip(objects, found):
            evaluated = thing.evaluated_get(graph)
            flat = np.empty(3 * len(evaluated.data.vertices), dtype=np.float32)
            evaluated.data.vertices.foreach_get("co", flat)
            world = np.array(evaluated.matrix_world, dtype=np.float64)
            points = flat.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
            frames.append(points[:, [0, 2, 1]] * [1, 1, -1])  # Z up back to Y up
    return [np.array(frames) for frames in found]


TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Formulas:
    """A glTF file, evaluated as the specification words it."""

    def __init__(self, path):
        data = path.read_bytes()
        size = struct.unpack_from("<I", data, 12)[0]
        self.json = json.loads(data[20 : 20 + size])
        self.bin = data[28 + size :]
        self.nodes = self.json["nodes"]
        self.parent = {child: n for n, node in enumerate(self.nodes) for child in node.get("children", [])}

    def rows(self, view, offset, kind, width, count):
        view = self.json["bufferViews"][view]
        stride = view.get("byteStride", width * np.dtype(kind).itemsize)
        start = view.get("byteOffset", 0) + offset
        return [np.frombuffer(self.bin, kind, width, start + n * stride) for n in range(count)]

    def accessor(self, index):
        accessor = self.json["accessors"][index]
        kind, width = TYPES[accessor["componentType"]], WIDTHS[accessor["type"]]
        values = np.zeros((accessor["count"], width))
        if "bufferView" in accessor:
            rows = self.rows(accessor["bufferView"], accessor.get("byteOffset", 0), kind, width, accessor["count"])
            values = np.array(rows, dtype=np.float64)
        sparse = accessor.get("sparse")
        if sparse:
            places, new, number = sparse["indices"], sparse["values"], sparse["count"]
            place_kind = TYPES[places["componentType"]]
            places = self.rows(places["bufferView"], places.get("byteOffset", 0), place_kind, 1, number)
            new = self.rows(new["bufferView"], new.get("byteOffset", 0), kind, width, number)
            for place, value in zip(places, new):
                values[place[0]] = value
        if accessor.get("normalized"):
            values = np.maximum(values / np.iinfo(np.dtype(kind)).max, -1.0)
        return values

    def sample(self, sampler, seconds, is_rotation, width):
        times = self.accessor(sampler["input"])[:, 0]
        mode = sampler.get("interpolation", "LINEAR")
        values = self.accessor(sampler["output"]).reshape(len(times), 3 if mode == "CUBICSPLINE" else 1, width)
        middle = values.shape[1] // 2
        if seconds <= times[0]:
            return values[0, middle]
        if seconds >= times[-1]:
            return values[-1, middle]
        key = int(np.searchsorted(times, seconds, side="right")) - 1
        distance = times[key + 1] - times[key]
        t = (seconds - times[key]) / distance
        start, end = values[key, middle], values[key + 1, middle]
        if mode == "STEP":
            return start
        if mode == "CUBICSPLINE":
            blended = (
                (2 * t**3 - 3 * t**2 + 1) * start
                + distance * (t**3 - 2 * t**2 + t) * values[key, 2]
                + (-2 * t**3 + 3 * t**2) * end
                + distance * (t**3 - t**2) * values[key + 1, 0]
            )
            return blended / np.linalg.norm(blended) if is_rotation else blended
        if is_rotation:
            # Eight bits cannot hold a unit length, which the formula takes for granted.
            start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
            dot = float(np.dot(start, end))
            angle = np.arccos(min(abs(dot), 1.0))
            if np.sin(angle) > 1e-6:
                sign = 1.0 if dot >= 0 else -1.0
                return np.sin(angle * (1 - t)) / np.sin(angle) * start + sign * np.sin(angle * t) / np.sin(angle) * end
        return (1 - t) * start + t * end

    def pose(self, seconds):
        """World matrices and morph weights of all nodes."""
        moved = {}
        for animation in self.json.get("animations", []):
            for channel in animation["channels"]:
                node, path = channel["target"]["node"], channel["target"]["path"]
                width = {"translation": 3, "rotation": 4, "scale": 3}.get(path) or len(self.weights(node))
                sampler = animation["samplers"][channel["sampler"]]
                moved[node, path] = self.sample(sampler, seconds, path == "rotation", width)
        worlds = [self.world(n, moved) for n in range(len(self.nodes))]
        return worlds, {n: moved.get((n, "weights"), self.weights(n)) for n in range(len(self.nodes))}

    def weights(self, n):
        node = self.nodes[n]
        if "mesh" not in node:
            return []
        mesh = self.json["meshes"][node["mesh"]]
        count = len(mesh["primitives"][0].get("targets", []))
        return node.get("weights", mesh.get("weights", [0.0] * count))

    def world(self, n, moved):
        node = self.nodes[n]
        if "matrix" in node:
            local = np.array(node["matrix"]).reshape(4, 4).T
        else:
            x, y, z, w = np.array(moved.get((n, "rotation"), node.get("rotation", [0, 0, 0, 1])), dtype=np.float64)
            size = np.sqrt(x * x + y * y + z * z + w * w)
            x, y, z, w = x / size, y / size, z / size, w / size
            local = np.eye(4)
            local[:3, :3] = [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
            local[:3, :3] = local[:3, :3] @ np.diag(moved.get((n, "scale"), node.get("scale", [1, 1, 1])))
            local[:3, 3] = moved.get((n, "translation"), node.get("translation", [0, 0, 0]))
        return self.world(self.parent[n], moved) @ local if n in self.parent else local

    def mesh_nodes(self, n):
        below = [found for child in self.nodes[n].get("children", []) for found in self.mesh_nodes(child)]
        return ([n] if "mesh" in self.nodes[n] else []) + below

    def vertices(self, name, seconds):
        worlds, weights = self.pose(seconds)
        points = []
        for n in self.mesh_nodes([node.get("name") for node in self.nodes].index(name)):
            node = self.nodes[n]
            for primitive in self.json["meshes"][node["mesh"]]["primitives"]:
                attributes = primitive["attributes"]
                positions = self.accessor(attributes["POSITION"])
                for weight, target in zip(weights[n], primitive.get("targets", [])):
                    if "POSITION" in target:
                        positions = positions + weight * self.accessor(target["POSITION"])
                if "skin" not in node:
                    points += [(worlds[n] @ [*p, 1.0])[:3] for p in positions]
                    continue
                skin = self.json["skins"][node["skin"]]
                binds = [m.reshape(4, 4).T for m in self.accessor(skin["inverseBindMatrices"])]
                movers = [worlds[joint] @ bind for joint, bind in zip(skin["joints"], binds)]
                sets = [k for k in range(4) if f"JOINTS_{k}" in attributes]
                joints = np.hstack([self.accessor(attributes[f"JOINTS_{k}"]) for k in sets]).astype(int)
                shares = np.hstack([self.accessor(attributes[f"WEIGHTS_{k}"]) for k in sets])
                for p, numbers, share in zip(positions, joints, shares / shares.sum(axis=1, keepdims=True)):
                    mover = sum(weight * movers[number] for number, weight in zip(numbers, share))
                    points.append((mover @ [*p, 1.0])[:3])
        return np.array(points)


def main():
    mode, path, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    plan = json.loads((folder / "plan.json").read_text())
    times, names = plan["times"], [name for name, _ in plan["objects"]]
    if mode == "blender":
        found = from_blender(path, times, names)
    else:
        file = Formulas(path)
        found = [np.array([file.vertices(name, seconds) for seconds in times]) for name in names]
    problems = 0
    for number, ((name, count), actual) in enumerate(zip(plan["objects"], found)):
        expected = np.fromfile(folder / f"{number}.f64", dtype="<f8").reshape(len(times), count, 3)
        if actual.shape != expected.shape:
            print(f"{name}: {actual.shape} instead of {expected.shape}")
            problems += 1
            continue
        error = np.linalg.norm(actual - expected, axis=2)
        moved = float(np.linalg.norm(actual - actual[0], axis=2).max())
        apart = len(np.unique(np.round(actual[0], 6), axis=0))
        time, vertex = np.unravel_index(np.argmax(error), error.shape)  # a not-a-number counts as the largest
        print(
            f"{name}: worst error {error[time, vertex]:.3g} m at {times[time]:.4f} s, vertex {vertex}; {count} vertices at "
            f"{apart} places, {len(times)} times, moved by {moved:.3f} m"
        )
        if not error[time, vertex] <= TOLERANCE:
            print(f"{name}: {actual[time, vertex]} where Kiln says {expected[time, vertex]}")
            problems += 1
        if not moved > MOVED or apart < 10:
            print(f"{name}: too little happens to prove anything")
            problems += 1
    sys.exit(1 if problems else 0)


main()
