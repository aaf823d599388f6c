"""Imports GLB files into Blender and compares every vertex of every frame.

usage: glb_blender.py VERTEX_COUNT (GLB EXPECTED FIRST_FRAME FPS TOLERANCE FRAME,FRAME,...)...

EXPECTED holds the vertices of each frame (Y up, little-endian f32). Ends with 1 and says what differs if anything does.
"""

import sys

import bpy
import numpy as np

problems = []


def imported(path, fps):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = fps
    bpy.ops.import_scene.gltf(filepath=path)
    return [thing for thing in bpy.data.objects if thing.type == "MESH"]


def vertices_at(thing, frame):
    """World coordinates, turned back from Blender's Z up."""
    bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(evaluated.data.vertices), dtype=np.float32)
    evaluated.data.vertices.foreach_get("co", flat)
    matrix = np.array(evaluated.matrix_world)
    world = flat.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1)


def compare(path, expected, first_frame, fps, tolerance, frames):
    meshes = imported(path, fps)
    if len(meshes) != 1:
        problems.append(f"{path}: {len(meshes)} meshes")
        return
    thing = meshes[0]
    keys = thing.data.shape_keys
    names = [key.name for key in keys.key_blocks][1:] if keys else []
    if names != [str(frame) for frame in frames[1:]]:
        problems.append(f"{path}: shape keys are called {names[:5]}...")
    # Blender's importer puts time 0 on frame 0 of its own time line.
    start = min(curve.range()[0] for curve in curves(keys)) if len(frames) > 1 else 0
    base = vertices_at(thing, start)
    apart = np.abs(base[:, None, :] - expected[0][None, :, :]).max(axis=2)
    source = apart.argmin(axis=1)
    if set(source) != set(range(expected.shape[1])):
        problems.append(f"{path}: only {len(set(source))} of {expected.shape[1]} vertices are there")
    worst = 0.0
    for number, frame in enumerate(frames):
        actual = vertices_at(thing, start + frame - frames[0])
        worst = max(worst, np.abs(actual - expected[number][source]).max())
    # After the end the last frame holds.
    held = vertices_at(thing, start + frames[-1] - frames[0] + 7)
    worst = max(worst, np.abs(held - expected[-1][source]).max())
    print(f"{path}: worst error {worst:.2g} over {len(frames)} frames, {len(base)} vertices, "
          f"materials {[slot.name for slot in thing.material_slots]}, {len(thing.data.uv_layers)} UV layers")
    if not worst <= tolerance:
        problems.append(f"{path}: vertices differ by {worst}")


def curves(keys):
    action = keys.animation_data.action
    for layer in action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:
                yield from bag.fcurves


def main():
    vertex_count = int(sys.argv[1])
    arguments = sys.argv[2:]
    for k in range(0, len(arguments), 6):
        path, expected, first_frame, fps, tolerance, frames = arguments[k : k + 6]
        frames = [int(frame) for frame in frames.split(",")]
        expected = np.fromfile(expected, dtype="<f4").reshape(len(frames), vertex_count, 3)
        compare(path, expected, int(first_frame), int(fps), float(tolerance), frames)
    for problem in problems[:20]:
        print(problem)
    sys.exit(1 if problems else 0)


main()
