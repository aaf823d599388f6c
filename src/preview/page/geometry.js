// What is known of a mesh besides its vertices (edges, creases, seams), worked out once, and what is worked out of every
// frame: places, normals, stretch. Nothing in here touches the page or WebGL; what runs a frame allocates nothing.

// Edges that are bent more than this at rest are meant to be sharp: a box is no ball.
const CREASE_COSINE = Math.cos(Math.PI / 3);

// The edges of triangles, each once. `faces` says which triangles are cut from one polygon, as runs of [sides, count]
// along the triangles; what lies inside a polygon is a diagonal, which nobody promised to keep its length and nobody wants
// to see. Without it every triangle is a polygon.
// Returns the outer edges as pairs of vertices, and of all edges with two sides the vertices and the triangles.
function edgesOf(vertexCount, triangles, faces) {
  const triangleCount = triangles.length / 3;
  const polygonOf = faces ? polygonsOf(triangleCount, faces) : null;
  const starts = new Int32Array(vertexCount + 1);
  for (let t = 0; t < triangleCount; t += 1) {
    for (let k = 0; k < 3; k += 1) {
      starts[Math.min(triangles[3 * t + k], triangles[3 * t + ((k + 1) % 3)]) + 1] += 1;
    }
  }
  for (let v = 0; v < vertexCount; v += 1) starts[v + 1] += starts[v];
  // Of each vertex the edges to vertices with larger numbers.
  const filled = new Int32Array(vertexCount);
  const other = new Int32Array(3 * triangleCount);
  const first = new Int32Array(3 * triangleCount);
  const second = new Int32Array(3 * triangleCount).fill(-1);
  const inner = new Uint8Array(3 * triangleCount);
  for (let t = 0; t < triangleCount; t += 1) {
    for (let k = 0; k < 3; k += 1) {
      const a = triangles[3 * t + k];
      const b = triangles[3 * t + ((k + 1) % 3)];
      const low = a < b ? a : b;
      const high = a < b ? b : a;
      if (low === high) continue;
      let at = starts[low];
      const end = at + filled[low];
      while (at < end && other[at] !== high) at += 1;
      if (at === end) {
        filled[low] += 1;
        other[at] = high;
        first[at] = 2 * t + (a < b ? 0 : 1); // with the direction that the triangle goes along it
      } else if (second[at] < 0) {
        second[at] = 2 * t + (a < b ? 0 : 1);
        if (polygonOf && polygonOf[t] === polygonOf[first[at] >> 1]) inner[at] = 1;
      }
    }
  }
  let outerCount = 0;
  let sharedCount = 0;
  for (let v = 0; v < vertexCount; v += 1) {
    for (let at = starts[v]; at < starts[v] + filled[v]; at += 1) {
      if (!inner[at]) outerCount += 1;
      if (second[at] >= 0 && ((first[at] ^ second[at]) & 1)) sharedCount += 1;
    }
  }
  const outer = new Int32Array(2 * outerCount);
  const shared = new Int32Array(4 * sharedCount);
  for (let v = 0, o = 0, s = 0; v < vertexCount; v += 1) {
    for (let at = starts[v]; at < starts[v] + filled[v]; at += 1) {
      if (!inner[at]) {
        outer[o] = v;
        outer[o + 1] = other[at];
        o += 2;
      }
      // Two triangles that go along an edge in the same direction do not agree about their outside.
      if (second[at] >= 0 && ((first[at] ^ second[at]) & 1)) {
        shared[s] = v;
        shared[s + 1] = other[at];
        shared[s + 2] = first[at] >> 1;
        shared[s + 3] = second[at] >> 1;
        s += 4;
      }
    }
  }
  return { outer, shared };
}

function polygonsOf(triangleCount, faces) {
  const polygonOf = new Int32Array(triangleCount);
  let t = 0;
  let polygon = 0;
  for (const [sides, count] of faces) {
    for (let p = 0; p < count; p += 1, polygon += 1) {
      for (let k = 0; k < sides - 2 && t < triangleCount; k += 1, t += 1) polygonOf[t] = polygon;
    }
  }
  for (; t < triangleCount; t += 1, polygon += 1) polygonOf[t] = polygon;
  return polygonOf;
}

// Unit normals of triangles; zero where a triangle has no area.
function faceNormals(positions, triangles) {
  const normals = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ux = positions[b] - positions[a];
    const uy = positions[b + 1] - positions[a + 1];
    const uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a];
    const vy = positions[c + 1] - positions[a + 1];
    const vz = positions[c + 2] - positions[a + 2];
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    const length = Math.sqrt(x * x + y * y + z * z);
    if (length > 0) {
      normals[t] = x / length;
      normals[t + 1] = y / length;
      normals[t + 2] = z / length;
    }
  }
  return normals;
}

// 255 at vertices of edges that are sharp at rest; the shader takes the triangle's own normal there.
function creasesOf(vertexCount, shared, normals) {
  const creases = new Uint8Array(vertexCount);
  for (let e = 0; e < shared.length; e += 4) {
    const s = 3 * shared[e + 2];
    const t = 3 * shared[e + 3];
    const cosine = normals[s] * normals[t] + normals[s + 1] * normals[t + 1] + normals[s + 2] * normals[t + 2];
    const flat = normals[s] === 0 && normals[s + 1] === 0 && normals[s + 2] === 0;
    const alsoFlat = normals[t] === 0 && normals[t + 1] === 0 && normals[t + 2] === 0;
    if (cosine < CREASE_COSINE && !flat && !alsoFlat) {
      creases[shared[e]] = 255;
      creases[shared[e + 1]] = 255;
    }
  }
  return creases;
}

// For each vertex the first one at exactly the same place at rest that looks in about the same direction: along seams of
// the texture glTF files have every vertex twice, and light must not show it. Layers back to back stay apart.
function seamsOf(positions, triangles) {
  const vertexCount = positions.length / 3;
  const normals = new Float32Array(positions.length);
  const corners = new Int32Array(triangles.length);
  for (let k = 0; k < triangles.length; k += 1) corners[k] = 3 * triangles[k];
  smoothNormals(positions, corners, 0, corners.length, normals, 0, positions.length, null);
  let size = 2;
  while (size < 2 * vertexCount) size *= 2;
  const table = new Int32Array(size).fill(-1);
  const bits = new Int32Array(new Float32Array(positions).buffer);
  const doubles = [];
  for (let v = 0; v < vertexCount; v += 1) {
    const x = 3 * v;
    let at = (Math.imul(bits[x], 0x9e3779b1) ^ Math.imul(bits[x + 1], 0x85ebca6b) ^ Math.imul(bits[x + 2], 0xc2b2ae35)) >>> 0;
    at = (at ^ (at >>> 15)) & (size - 1);
    for (; table[at] >= 0; at = (at + 1) & (size - 1)) {
      const w = 3 * table[at];
      if (bits[w] !== bits[x] || bits[w + 1] !== bits[x + 1] || bits[w + 2] !== bits[x + 2]) continue;
      const cosine = normals[w] * normals[x] + normals[w + 1] * normals[x + 1] + normals[w + 2] * normals[x + 2];
      if (cosine >= CREASE_COSINE) break;
    }
    if (table[at] < 0) table[at] = v;
    else doubles.push(v, table[at]);
  }
  return Int32Array.from(doubles);
}

// Normals of vertices: the sum of the triangles around them, each by its area. `corners` are indices into `positions`
// (three times the vertex) and `doubles` pairs of such indices: what gets its normal from where.
function smoothNormals(positions, corners, firstCorner, endCorner, normals, firstNumber, endNumber, doubles) {
  normals.fill(0, firstNumber, endNumber);
  for (let k = firstCorner; k < endCorner; k += 3) {
    const a = corners[k];
    const b = corners[k + 1];
    const c = corners[k + 2];
    const px = positions[a];
    const py = positions[a + 1];
    const pz = positions[a + 2];
    const ux = positions[b] - px;
    const uy = positions[b + 1] - py;
    const uz = positions[b + 2] - pz;
    const vx = positions[c] - px;
    const vy = positions[c + 1] - py;
    const vz = positions[c + 2] - pz;
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    normals[a] += x;
    normals[a + 1] += y;
    normals[a + 2] += z;
    normals[b] += x;
    normals[b + 1] += y;
    normals[b + 2] += z;
    normals[c] += x;
    normals[c + 1] += y;
    normals[c + 2] += z;
  }
  for (let k = firstNumber; k < endNumber; k += 3) {
    const x = normals[k];
    const y = normals[k + 1];
    const z = normals[k + 2];
    const square = x * x + y * y + z * z;
    if (square > 0) {
      const scale = 1 / Math.sqrt(square);
      normals[k] = x * scale;
      normals[k + 1] = y * scale;
      normals[k + 2] = z * scale;
    }
  }
  if (doubles === null) return;
  for (let k = 0; k < doubles.length; k += 2) {
    const to = doubles[k];
    const from = doubles[k + 1];
    normals[to] = normals[from];
    normals[to + 1] = normals[from + 1];
    normals[to + 2] = normals[from + 2];
  }
}

// Of each vertex the stretch l / l0 - 1 of the edge that is farthest from its rest length; negative if it is shorter.
function edgeStretch(positions, edges, inverseRest, firstEdge, endEdge, stretch, firstVertex, endVertex) {
  stretch.fill(0, firstVertex, endVertex);
  for (let e = firstEdge; e < endEdge; e += 1) {
    const v = edges[2 * e];
    const w = edges[2 * e + 1];
    const a = 3 * v;
    const b = 3 * w;
    const x = positions[a] - positions[b];
    const y = positions[a + 1] - positions[b + 1];
    const z = positions[a + 2] - positions[b + 2];
    const value = Math.sqrt(x * x + y * y + z * z) * inverseRest[e] - 1;
    const size = Math.abs(value);
    if (size > Math.abs(stretch[v])) stretch[v] = value;
    if (size > Math.abs(stretch[w])) stretch[w] = value;
  }
}

// All meshes of a bake, one after the other as they stand in a frame, with numbers of vertices that count through.
class Geometry {
  // `bytes` is meshes.bin, `about` the bake's entry in scene.json.
  constructor(bytes, about) {
    const triangleCount = about.objects.reduce((sum, object) => sum + object.triangles, 0);
    const expected = 12 * about.vertex_count + 12 * triangleCount;
    if (bytes.byteLength !== expected) {
      throw new Error(`the meshes of "${about.title}" have ${bytes.byteLength} bytes instead of ${expected}`);
    }
    this.vertexCount = about.vertex_count;
    this.rest = new Float32Array(3 * this.vertexCount);
    this.triangles = new Uint32Array(3 * triangleCount);
    this.creases = new Uint8Array(this.vertexCount);
    this.objects = [];
    const doubles = [];
    const edgeLists = [];
    let [at, vertex, corner, edge] = [0, 0, 0, 0];
    for (const object of about.objects) {
      const positions = new Float32Array(bytes.slice(at, at + 12 * object.vertices));
      at += 12 * object.vertices;
      const triangles = new Uint32Array(bytes.slice(at, at + 12 * object.triangles));
      at += 12 * object.triangles;
      for (let k = 0; k < triangles.length; k += 1) {
        if (triangles[k] >= object.vertices) throw new Error(`a triangle of "${object.name}" has a vertex that does not exist`);
      }
      this.rest.set(positions, 3 * vertex);
      const { outer, shared } = edgesOf(object.vertices, triangles, object.faces);
      this.creases.set(creasesOf(object.vertices, shared, faceNormals(positions, triangles)), vertex);
      const seams = seamsOf(positions, triangles);
      for (let k = 0; k < triangles.length; k += 1) this.triangles[corner + k] = vertex + triangles[k];
      for (let k = 0; k < outer.length; k += 1) outer[k] += vertex;
      for (let k = 0; k < seams.length; k += 1) seams[k] = 3 * (vertex + seams[k]);
      edgeLists.push(outer);
      doubles.push(seams);
      this.objects.push({
        firstVertex: vertex, vertices: object.vertices, firstCorner: corner, corners: triangles.length,
        firstEdge: edge, edges: outer.length / 2, doubles: seams,
      });
      vertex += object.vertices;
      corner += triangles.length;
      edge += outer.length / 2;
    }
    if (vertex !== this.vertexCount) throw new Error(`the objects of "${about.title}" do not add up to its vertices`);
    this.edges = new Int32Array(2 * edge);
    for (let k = 0; k < edgeLists.length; k += 1) this.edges.set(edgeLists[k], 2 * this.objects[k].firstEdge);
    this.inverseRest = new Float32Array(edge);
    for (let e = 0; e < edge; e += 1) {
      const a = 3 * this.edges[2 * e];
      const b = 3 * this.edges[2 * e + 1];
      const [x, y, z] = [this.rest[a] - this.rest[b], this.rest[a + 1] - this.rest[b + 1], this.rest[a + 2] - this.rest[b + 2]];
      // An edge without length at rest has no stretch: what is not a number is never the largest.
      const length = Math.sqrt(x * x + y * y + z * z);
      this.inverseRest[e] = length > 0 ? 1 / length : NaN;
    }
    // What normals are summed over: along seams the first of the vertices stands for all.
    this.corners = new Int32Array(this.triangles.length);
    for (let k = 0; k < this.corners.length; k += 1) this.corners[k] = 3 * this.triangles[k];
    this.objects.forEach((object, o) => {
      if (doubles[o].length === 0) return;
      const standsFor = new Map();
      for (let k = 0; k < doubles[o].length; k += 2) standsFor.set(doubles[o][k], doubles[o][k + 1]);
      for (let k = object.firstCorner; k < object.firstCorner + object.corners; k += 1) {
        this.corners[k] = standsFor.get(this.corners[k]) ?? this.corners[k];
      }
    });
  }
}

// Places, normals and stretch of the frame of a bake that is shown; the arrays are the same for every frame.
class Shape {
  constructor(geometry, about) {
    this.geometry = geometry;
    this.about = about;
    this.positions = new Float32Array(3 * geometry.vertexCount);
    this.normals = new Float32Array(3 * geometry.vertexCount);
    this.stretch = new Float32Array(geometry.vertexCount);
    this.started = false;
  }

  // Reads a frame: places as they are in the file, or fractions of a box in 16 bits.
  read(bytes) {
    const packing = this.about.positions;
    if (packing.type === "f32") {
      this.positions.set(new Float32Array(bytes.buffer, bytes.byteOffset, this.positions.length));
    } else {
      const packed = new Uint16Array(bytes.buffer, bytes.byteOffset, this.positions.length);
      const [x, y, z] = packing.low;
      const step = packing.step;
      const positions = this.positions;
      for (let k = 0; k < positions.length; k += 3) {
        positions[k] = x + step * packed[k];
        positions[k + 1] = y + step * packed[k + 1];
        positions[k + 2] = z + step * packed[k + 2];
      }
    }
  }

  // What never moves keeps its normals.
  findNormals() {
    this.geometry.objects.forEach((object, o) => {
      if (this.started && this.about.objects[o].still) return;
      smoothNormals(
        this.positions, this.geometry.corners, object.firstCorner, object.firstCorner + object.corners,
        this.normals, 3 * object.firstVertex, 3 * (object.firstVertex + object.vertices), object.doubles,
      );
    });
    this.started = true;
  }

  findStretch() {
    this.geometry.objects.forEach((object, o) => {
      if (!this.about.objects[o].stretch) return;
      edgeStretch(
        this.positions, this.geometry.edges, this.geometry.inverseRest, object.firstEdge, object.firstEdge + object.edges,
        this.stretch, object.firstVertex, object.firstVertex + object.vertices,
      );
    });
  }

  // Smallest and largest coordinates of an object, into `box` of six numbers.
  widen(box, o, positions = this.positions) {
    const object = this.geometry.objects[o];
    for (let k = 3 * object.firstVertex; k < 3 * (object.firstVertex + object.vertices); k += 3) {
      for (let axis = 0; axis < 3; axis += 1) {
        const place = positions[k + axis];
        if (place < box[axis]) box[axis] = place;
        if (place > box[axis + 3]) box[axis + 3] = place;
      }
    }
    return box;
  }
}

const emptyBox = () => [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
