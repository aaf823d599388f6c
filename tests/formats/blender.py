"""Plays Kiln's caches in Blender and compares every vertex of every frame.

usage: blender.py FOLDER FIRST_FRAME FRAME_COUNT VERTEX_COUNT FACE_COUNT

FOLDER holds rest/flag.obj, flag.pc2, flag.mdd (Z up, metres) and expected.f32 (the rest mesh, then every frame,
little endian). Ends with 1 and says what differs if anything does.
"""

import sys
from pathlib import Path

import bpy
import numpy as np

TOLERANCE = 1e-5
problems = []


def check(what, actual, expected):
    if actual != expected:
        problems.append(f"{what}: {actual} instead of {expected}")


def compare(what, actual, expected):
    """The largest distance along an axis; not-a-number counts as different."""
    if actual.shape != expected.shape:
        problems.append(f"{what}: {len(actual)} vertices instead of {len(expected)}")
        return float("inf")
    difference = np.abs(actual - expected).max(axis=1)
    worst = int(np.argmax(difference))  # a not-a-number counts as the largest
    if not difference[worst] <= TOLERANCE:
        problems.append(f"{what}: vertex {worst} is at {actual[worst]} instead of {expected[worst]}")
    return float(difference[worst])


def coordinates(mesh):
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def add_cache(flag, path, first_frame):
    modifier = flag.modifiers.new(path.name, "MESH_CACHE")
    modifier.cache_format = path.suffix[1:].upper()
    modifier.filepath = str(path)
    modifier.frame_start = first_frame
    modifier.interpolation = "NONE"
    modifier.forward_axis = "POS_Y"  # with POS_Z: leave the axes alone
    modifier.up_axis = "POS_Z"


def main():
    folder = Path(sys.argv[1])
    first_frame, frame_count, vertex_count, face_count = map(int, sys.argv[2:])
    expected = np.fromfile(folder / "expected.f32", dtype="<f4").reshape(1 + frame_count, vertex_count, 3)

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.obj_import(filepath=str(folder / "rest" / "flag.obj"), forward_axis="Y", up_axis="Z")
    check("imported objects", len(bpy.data.objects), 1)
    flag = bpy.data.objects[0]
    check("object name", flag.name, "grid")
    check("vertices", len(flag.data.vertices), vertex_count)
    check("faces", len(flag.data.polygons), face_count)
    check("corners of faces", {len(face.vertices) for face in flag.data.polygons}, {4})
    check("UV layers", len(flag.data.uv_layers), 1)
    check("materials", [slot.name for slot in flag.material_slots], ["silk", "wool"])
    print(f"rest mesh: worst error {compare('rest mesh', coordinates(flag.data), expected[0]):.2g}")

    for name in ["flag.pc2", "flag.mdd"]:
        flag.modifiers.clear()
        add_cache(flag, folder / name, first_frame)
        worst = 0.0
        for sample in range(frame_count):
            bpy.context.scene.frame_set(first_frame + sample)
            evaluated = flag.evaluated_get(bpy.context.evaluated_depsgraph_get())
            what = f"{name} at frame {first_frame + sample}"
            worst = max(worst, compare(what, coordinates(evaluated.data), expected[1 + sample]))
        check(f"{name}: faces after the modifier", len(evaluated.data.polygons), face_count)
        print(f"{name}: worst error {worst:.2g} over {frame_count} frames")

    for problem in problems[:20]:
        print(problem)
    sys.exit(1 if problems else 0)


main()
