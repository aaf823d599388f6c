// A camera that orbits around a point.

const FIELD_OF_VIEW = (35 * Math.PI) / 180; // from top to bottom
const HIGHEST_PITCH = (89.5 * Math.PI) / 180;

class Camera {
  constructor() {
    this.yaw = 0.5;
    this.pitch = 0.3;
    this.distance = 4;
    this.target = [0, 0.5, 0];
    this.radius = 1; // of what there is to see
    this.matrix = new Float32Array(16);
  }

  // Right, up and forward.
  axes() {
    const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
    return { right: [cy, 0, -sy], up: [-sp * sy, cp, -sp * cy], forward: [-cp * sy, -sp, -cp * cy] };
  }

  eye() {
    const { forward } = this.axes();
    return this.target.map((place, axis) => place - this.distance * forward[axis]);
  }

  // From places relative to the eye to the picture; without the eye's place, so that nothing is lost far from the origin.
  toPicture(aspect) {
    const { right, up, forward } = this.axes();
    const scale = 1 / Math.tan(FIELD_OF_VIEW / 2);
    const near = Math.max(this.distance - 4 * this.radius, 0.004 * this.distance);
    const far = this.distance + 40 * this.radius;
    const [depth, shift] = [(far + near) / (far - near), (-2 * far * near) / (far - near)];
    for (let axis = 0; axis < 3; axis += 1) {
      this.matrix[4 * axis] = (right[axis] * scale) / aspect;
      this.matrix[4 * axis + 1] = up[axis] * scale;
      this.matrix[4 * axis + 2] = forward[axis] * depth;
      this.matrix[4 * axis + 3] = forward[axis];
    }
    this.matrix[12] = 0;
    this.matrix[13] = 0;
    this.matrix[14] = shift;
    this.matrix[15] = 0;
    return this.matrix;
  }

  // By pixels of a picture that is so high.
  orbit(x, y, height) {
    this.yaw -= (x / height) * 3.5;
    this.pitch = Math.max(-HIGHEST_PITCH, Math.min(HIGHEST_PITCH, this.pitch + (y / height) * 3.5));
  }

  // The point under the pointer stays under it.
  pan(x, y, height) {
    const { right, up } = this.axes();
    const size = (2 * this.distance * Math.tan(FIELD_OF_VIEW / 2)) / height;
    this.target = this.target.map((place, axis) => place - size * (x * right[axis] - y * up[axis]));
  }

  // Towards a place of the picture, in pixels from its middle.
  zoom(factor, x, y, height) {
    const before = this.distance;
    this.distance = Math.max(0.002 * this.radius, Math.min(30 * this.radius, before * factor));
    const moved = 1 - this.distance / before;
    const { right, up } = this.axes();
    const size = (2 * before * Math.tan(FIELD_OF_VIEW / 2)) / height;
    this.target = this.target.map((place, axis) => place + moved * size * (x * right[axis] - y * up[axis]));
  }

  // Where the camera stands to see a box; it keeps its direction.
  framing(box, aspect) {
    const { right, up, forward } = this.axes();
    const target = [0, 1, 2].map((axis) => (box[axis] + box[axis + 3]) / 2);
    const slope = Math.tan(FIELD_OF_VIEW / 2) / 1.14;
    let distance = 0;
    for (let corner = 0; corner < 8; corner += 1) {
      const [x, y, z] = [0, 1, 2].map((axis) => box[axis + (corner & (1 << axis) ? 3 : 0)] - target[axis]);
      const along = (axis) => x * axis[0] + y * axis[1] + z * axis[2];
      const [across, above, behind] = [along(right), along(up), along(forward)];
      distance = Math.max(distance, Math.abs(across) / (slope * aspect) - behind, Math.abs(above) / slope - behind);
    }
    return { target, distance: Math.max(distance, 1e-4) };
  }
}
