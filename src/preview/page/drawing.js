// Everything that talks to WebGL: buffers of a bake, shaders, light, ground and its shadow.
//
// Light, the same in `kiln render`: a key light from upper left in front, with a soft edge; light of the sky from above and
// of the ground from below; a little from where one looks. Colours are lit in linear light.

const SHADOW_SIZE = 1024;
// Where the processor draws, shadows are coarser: blurring them would cost more than all the rest.
const SOFTWARE_SHADOW_SIZE = 256;
const COLOURINGS = { object: 0, stretch: 1, contact: 2, volume: 3 };

const vec3 = (colour) => `vec3(${colour.map((part) => part.toFixed(3)).join(", ")})`;

const COMMON = `#version 300 es
precision highp float;
const vec3 TOWARDS_LIGHT = normalize(vec3(-0.45, 0.8, 0.4));
`;

const BACKGROUND_VERTEX = `${COMMON}
out float height;
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  height = 0.5 + 0.5 * corner.y;
  gl_Position = vec4(corner, 1.0, 1.0);
}`;

const BACKGROUND_FRAGMENT = `${COMMON}
in float height;
out vec4 colour;
void main() {
  // #dfe4ea above, #f4f5f7 below; half a step of noise, or the bands would be seen.
  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  colour = vec4(mix(vec3(244.0, 245.0, 247.0), vec3(223.0, 228.0, 234.0), height) / 255.0 + noise / 255.0, 1.0);
}`;

const SURFACE_VERTEX = `${COMMON}
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in float stretch;
layout(location = 3) in float contact;
layout(location = 4) in float crease;
uniform vec3 eye;
uniform mat4 to_picture;
uniform float points;
out vec3 place;
out vec3 smooth_normal;
out float stretched;
out float touching;
out float sharp;
invariant gl_Position;
void main() {
  place = position - eye;
  smooth_normal = normal;
  stretched = stretch;
  touching = contact;
  sharp = crease;
  gl_Position = to_picture * vec4(place, 1.0);
  gl_PointSize = points;
}`;

const SURFACE_FRAGMENT = `${COMMON}
in vec3 place;
in vec3 smooth_normal;
in float stretched;
in float touching;
in float sharp;
uniform int colouring;
uniform vec3 base;
uniform float limit;
uniform float flat_shading;
uniform vec4 tint;
uniform float opacity;
out vec4 colour;

vec3 linear(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c)); }
vec3 srgb(vec3 c) { return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)); }

// As in elements.js: blue is shorter, red longer.
vec3 diverging(float value) {
  vec3 inside = mix(${vec3(HEAT.middle)}, value < 0.0 ? ${vec3(HEAT.low)} : ${vec3(HEAT.high)}, min(abs(value), 1.0));
  return mix(inside, ${vec3(HEAT.over)}, smoothstep(1.02, 1.5, value));
}

vec3 near(float value) {
  const vec3 CLOSE = ${vec3(HEAT.close)};
  return value < 0.5 ? mix(${vec3(HEAT.far)}, CLOSE, 2.0 * value) : mix(CLOSE, ${vec3(HEAT.touch)}, 2.0 * value - 1.0);
}

void main() {
  vec3 face = normalize(cross(dFdx(place), dFdy(place)));
  vec3 towards_eye = -normalize(place);
  face *= dot(face, towards_eye) < 0.0 ? -1.0 : 1.0;
  // Cloth is seen from both sides.
  float size = length(smooth_normal);
  vec3 n = size > 0.0 ? smooth_normal / size : face;
  n *= dot(n, face) < 0.0 ? -1.0 : 1.0;
  n = normalize(mix(n, face, max(flat_shading, sharp)));

  vec3 albedo = colouring == 1 ? diverging(stretched / limit) : colouring == 2 ? near(touching) : base;
  albedo = linear(mix(albedo, tint.rgb, tint.a));
  vec3 ambient = mix(vec3(0.30, 0.285, 0.27), vec3(0.56, 0.60, 0.66), 0.5 + 0.5 * n.y);
  float key = max((dot(n, TOWARDS_LIGHT) + 0.15) / 1.15, 0.0);
  float front = max(dot(n, towards_eye), 0.0);
  float gloss = pow(max(dot(n, normalize(TOWARDS_LIGHT + towards_eye)), 0.0), 40.0) * 0.05;
  vec3 lit = albedo * (ambient + vec3(0.66, 0.645, 0.62) * key + 0.06 * front) + gloss * key;
  colour = vec4(srgb(min(lit, 1.0)), opacity);
}`;

const LINE_FRAGMENT = `${COMMON}
in vec3 place;
in vec3 smooth_normal;
in float stretched;
in float touching;
in float sharp;
uniform vec4 line_colour;
uniform float round_points;
out vec4 colour;
void main() {
  float away = length(gl_PointCoord - 0.5);
  colour = line_colour;
  if (round_points > 0.5) {
    if (away > 0.5) discard;
    colour.rgb = away > 0.34 ? vec3(1.0) : line_colour.rgb;
  }
}`;

// What the light does not reach of the ground, seen from above: near to the ground the shadow is deeper than far above it.
const SHADOW_VERTEX = `${COMMON}
layout(location = 0) in vec3 position;
uniform vec3 ground;
uniform float reach;
uniform float fading;
out float depth;
void main() {
  float height = max(position.y - ground.y, 0.0);
  vec2 place = position.xz - TOWARDS_LIGHT.xz * (height / TOWARDS_LIGHT.y);
  depth = 0.35 + 0.65 * exp(-height / fading);
  gl_Position = vec4((place - ground.xz) / reach, 0.0, 1.0);
}`;

const SHADOW_FRAGMENT = `${COMMON}
in float depth;
out vec4 colour;
void main() { colour = vec4(depth, 0.0, 0.0, 1.0); }`;

const BLUR_VERTEX = `${COMMON}
out vec2 at;
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  at = 0.5 + 0.5 * corner;
  gl_Position = vec4(corner, 0.0, 1.0);
}`;

const BLUR_FRAGMENT = `${COMMON}
in vec2 at;
uniform sampler2D source;
uniform vec2 stride;
out vec4 colour;
void main() {
  float sum = 0.0, weights = 0.0;
  for (int k = -8; k <= 8; k += 1) {
    float weight = exp(-float(k * k) / 24.0);
    sum += weight * texture(source, at + stride * float(k)).r;
    weights += weight;
  }
  colour = vec4(sum / weights, 0.0, 0.0, 1.0);
}`;

const GROUND_VERTEX = `${COMMON}
uniform vec3 ground;
uniform vec3 eye;
uniform float extent;
uniform mat4 to_picture;
out vec2 from_middle;
void main() {
  vec2 corner = vec2(gl_VertexID % 2 == 0 ? -1.0 : 1.0, gl_VertexID < 2 ? -1.0 : 1.0);
  from_middle = corner * extent;
  vec3 place = ground + vec3(from_middle.x, 0.0, from_middle.y);
  gl_Position = to_picture * vec4(place - eye, 1.0);
}`;

const GROUND_FRAGMENT = `${COMMON}
in vec2 from_middle;
uniform vec3 ground;
uniform float extent;
uniform float reach;
uniform float cell;
uniform float from_above;
uniform sampler2D sharp_shadow;
uniform sampler2D wide_shadow;
out vec4 colour;
float lines(vec2 place, float width) {
  vec2 at = place / width;
  vec2 pixel = max(fwidth(at), 1e-6);
  vec2 near = abs(fract(at - 0.5) - 0.5) / pixel;
  vec2 line = (1.0 - min(near, 1.0)) * (1.0 - smoothstep(0.15, 0.5, pixel));
  return max(line.x, line.y);
}
void main() {
  vec2 place = from_middle + ground.xz;
  float away = length(from_middle) / extent;
  float fade = 1.0 - smoothstep(0.12, 0.85, away);
  float grid = max(0.10 * lines(place, cell), 0.20 * lines(place, 10.0 * cell)) * fade;
  vec2 at = 0.5 + 0.5 * from_middle / reach;
  vec2 edge = smoothstep(0.0, 0.06, at) * (1.0 - smoothstep(0.94, 1.0, at));
  float shadow = (0.36 * texture(sharp_shadow, at).r + 0.30 * texture(wide_shadow, at).r) * edge.x * edge.y * from_above;
  const vec3 GRID = vec3(0.30, 0.34, 0.40), SHADOW = vec3(0.10, 0.12, 0.17);
  float alpha = shadow + grid * (1.0 - shadow);
  colour = vec4(mix(GRID, SHADOW, shadow / max(alpha, 1e-5)), alpha);
}`;

// The buffers of a bake: all objects of a frame in one, as they stand in the file.
class BakeBuffers {
  constructor(gl, geometry) {
    this.geometry = geometry;
    const { vertexCount } = geometry;
    const buffer = (target, content, usage) => {
      const made = gl.createBuffer();
      gl.bindBuffer(target, made);
      gl.bufferData(target, content, usage);
      return made;
    };
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    const attribute = (location, size, type, normalised, content, usage) => {
      const made = buffer(gl.ARRAY_BUFFER, content, usage);
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, type, normalised, 0, 0);
      return made;
    };
    this.positions = attribute(0, 3, gl.FLOAT, false, geometry.rest, gl.DYNAMIC_DRAW);
    this.normals = attribute(1, 3, gl.FLOAT, false, 12 * vertexCount, gl.DYNAMIC_DRAW);
    this.stretch = attribute(2, 1, gl.FLOAT, false, 4 * vertexCount, gl.DYNAMIC_DRAW);
    this.contact = attribute(3, 1, gl.UNSIGNED_BYTE, true, vertexCount, gl.DYNAMIC_DRAW);
    this.creases = attribute(4, 1, gl.UNSIGNED_BYTE, true, geometry.creases, gl.STATIC_DRAW);
    this.triangles = buffer(gl.ELEMENT_ARRAY_BUFFER, geometry.triangles, gl.STATIC_DRAW);
    this.edges = buffer(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(geometry.edges), gl.STATIC_DRAW);
    this.marked = gl.createBuffer();
    gl.bindVertexArray(null);
  }
}

class Drawing {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
    if (!gl) {
      throw new Trouble(
        "This browser cannot draw in 3D: it has no WebGL 2. Try another browser, or switch hardware acceleration on in its settings.",
      );
    }
    this.gl = gl;
    this.setUp();
  }

  // Everything that is lost with the context.
  setUp() {
    const { gl } = this;
    this.background = this.program(BACKGROUND_VERTEX, BACKGROUND_FRAGMENT);
    this.surface = this.program(SURFACE_VERTEX, SURFACE_FRAGMENT);
    this.line = this.program(SURFACE_VERTEX, LINE_FRAGMENT);
    this.shadow = this.program(SHADOW_VERTEX, SHADOW_FRAGMENT);
    this.blur = this.program(BLUR_VERTEX, BLUR_FRAGMENT);
    this.ground = this.program(GROUND_VERTEX, GROUND_FRAGMENT);
    this.nothing = gl.createVertexArray();
    const about = gl.getExtension("WEBGL_debug_renderer_info");
    const renderer = about ? String(gl.getParameter(about.UNMASKED_RENDERER_WEBGL)) : "";
    const size = /swiftshader|llvmpipe|software|basic render/i.test(renderer) ? SOFTWARE_SHADOW_SIZE : SHADOW_SIZE;
    // One shadow for each picture that can be side by side.
    this.shadows = [0, 1].map(() => ({
      mask: this.target(size), between: this.target(size), sharp: this.target(size),
      betweenSmall: this.target(size / 4), wide: this.target(size / 4),
    }));
  }

  program(vertex, fragment) {
    const { gl } = this;
    const program = gl.createProgram();
    const shaders = [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]].map(([type, text]) => {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      return shader;
    });
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      const why = shaders.map((shader) => gl.getShaderInfoLog(shader)).concat(gl.getProgramInfoLog(program)).join(" ");
      throw new Trouble(`The graphics driver refuses the viewer's shaders: ${why}`);
    }
    const places = new Map();
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0;
    for (let k = 0; k < count; k += 1) {
      const { name } = gl.getActiveUniform(program, k);
      places.set(name, gl.getUniformLocation(program, name));
    }
    return { program, at: (name) => places.get(name) ?? null };
  }

  target(size) {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.R8, size, size);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.LINEAR);
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { texture, frame, size };
  }

  buffersFor(geometry) {
    return new BakeBuffers(this.gl, geometry);
  }

  upload(buffer, content) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, content);
  }

  // What really is in a buffer.
  download(buffer, first, content) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.getBufferSubData(gl.ARRAY_BUFFER, first, content);
    return content;
  }

  // Calls when all that was drawn so far is really there.
  whenDone(call) {
    const { gl } = this;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    const look = () => {
      if (fence && !gl.isContextLost() && gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) {
        setTimeout(look, 4);
        return;
      }
      gl.deleteSync(fence);
      call();
    };
    setTimeout(look, 0);
  }

  // The vertices of a bake that are marked in the picture.
  mark(buffers, vertices) {
    const { gl } = this;
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers.marked);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, vertices, gl.DYNAMIC_DRAW);
  }

  // Draws the shadow that `layers` throw on the ground; done again only when they have changed.
  drawShadow(which, layers, scene) {
    const { gl } = this;
    const { mask, between, sharp, betweenSmall, wide } = this.shadows[which];
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, mask.frame);
    gl.viewport(0, 0, mask.size, mask.size);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendEquation(gl.MAX);
    const { program, at } = this.shadow;
    gl.useProgram(program);
    gl.uniform3fv(at("ground"), scene.ground);
    gl.uniform1f(at("reach"), scene.shadowReach);
    gl.uniform1f(at("fading"), 0.5 * scene.radius);
    for (const layer of layers) {
      gl.bindVertexArray(layer.buffers.array);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, layer.buffers.triangles);
      for (const object of layer.objects) {
        if (!object.isFloor) gl.drawElements(gl.TRIANGLES, object.range.corners, gl.UNSIGNED_INT, 4 * object.range.firstCorner);
      }
    }
    gl.blendEquation(gl.FUNC_ADD);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(this.nothing);
    gl.useProgram(this.blur.program);
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform1i(this.blur.at("source"), 0);
    const pass = (from, to, x, y) => {
      gl.bindFramebuffer(gl.FRAMEBUFFER, to.frame);
      gl.viewport(0, 0, to.size, to.size);
      gl.bindTexture(gl.TEXTURE_2D, from.texture);
      gl.uniform2f(this.blur.at("stride"), x / from.size, y / from.size);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    };
    pass(mask, between, 1, 0);
    pass(between, sharp, 0, 1);
    pass(sharp, betweenSmall, 5, 0);
    pass(betweenSmall, wide, 0, 1.25);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.bindVertexArray(null);
  }

  // Draws one picture. `layers` are bakes with what is shown of them; later ones lie over the first.
  drawPicture(which, rectangle, camera, layers, scene, style) {
    const { gl } = this;
    const [left, bottom, width, height] = rectangle;
    gl.viewport(left, bottom, width, height);
    gl.scissor(left, bottom, width, height);
    gl.enable(gl.SCISSOR_TEST);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(this.nothing);
    gl.useProgram(this.background.program);
    gl.drawArrays(gl.TRIANGLES, 0, 3);

    const eye = camera.eye();
    const matrix = camera.toPicture(width / height);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    for (const layer of layers) {
      if (style.wire !== "only") this.drawSurfaces(layer, eye, matrix, style);
      if (style.wire !== "off") this.drawWires(layer, eye, matrix, style, scene, camera, height);
      if (layer.marked > 0) this.drawMarks(layer, eye, matrix, style);
    }
    this.drawGround(which, eye, matrix, scene);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindVertexArray(null);
  }

  drawSurfaces(layer, eye, matrix, style) {
    const { gl } = this;
    const { program, at } = this.surface;
    gl.useProgram(program);
    gl.uniform3fv(at("eye"), eye);
    gl.uniformMatrix4fv(at("to_picture"), false, matrix);
    gl.uniform1f(at("points"), 1);
    gl.uniform1f(at("flat_shading"), style.smooth ? 0 : 1);
    gl.uniform1f(at("opacity"), layer.opacity);
    gl.bindVertexArray(layer.buffers.array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, layer.buffers.triangles);
    const all = () => {
      for (const object of layer.objects) {
        if (object.isFloor) continue;
        gl.uniform1i(at("colouring"), COLOURINGS[object.colouring]);
        gl.uniform3fv(at("base"), object.colour);
        gl.uniform1f(at("limit"), object.limit);
        gl.uniform4fv(at("tint"), object.tint);
        gl.drawElements(gl.TRIANGLES, object.range.corners, gl.UNSIGNED_INT, 4 * object.range.firstCorner);
      }
    };
    // Lines lie on surfaces, not in them.
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(style.wire === "off" ? 0 : 1, style.wire === "off" ? 0 : 1);
    if (layer.opacity < 1) {
      // First only how deep it is: of what can be seen through, the nearest surface alone is drawn.
      gl.colorMask(false, false, false, false);
      all();
      gl.colorMask(true, true, true, true);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
      all();
      gl.disable(gl.BLEND);
    } else {
      all();
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  drawWires(layer, eye, matrix, style, scene, camera, height) {
    const { gl } = this;
    const { program, at } = this.line;
    gl.useProgram(program);
    gl.uniform3fv(at("eye"), eye);
    gl.uniformMatrix4fv(at("to_picture"), false, matrix);
    gl.uniform1f(at("points"), 1);
    gl.uniform1f(at("round_points"), 0);
    gl.bindVertexArray(layer.buffers.array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, layer.buffers.edges);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    const pixels = height / (2 * camera.distance * Math.tan(FIELD_OF_VIEW / 2));
    for (const object of layer.objects) {
      if (object.isFloor) continue;
      // Fine meshes get fainter lines, or they would be black.
      const alpha = Math.max(0.07, Math.min(style.wire === "only" ? 0.8 : 0.5, (object.meanEdge * pixels) / 22));
      const [r, g, b] = style.wire === "only" ? object.colour.map((part) => 0.62 * part) : [0.07, 0.09, 0.12];
      gl.uniform4f(at("line_colour"), r, g, b, alpha);
      gl.drawElements(gl.LINES, 2 * object.range.edges, gl.UNSIGNED_INT, 8 * object.range.firstEdge);
    }
    gl.disable(gl.BLEND);
  }

  // Vertices of broken promises: whole where they are in sight, faint through what hides them.
  drawMarks(layer, eye, matrix, style) {
    const { gl } = this;
    const { program, at } = this.line;
    gl.useProgram(program);
    gl.uniform3fv(at("eye"), eye);
    gl.uniformMatrix4fv(at("to_picture"), false, matrix);
    gl.uniform1f(at("round_points"), 1);
    gl.uniform1f(at("points"), 9 * style.pixelRatio);
    gl.bindVertexArray(layer.buffers.array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, layer.buffers.marked);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.disable(gl.DEPTH_TEST);
    gl.uniform4f(at("line_colour"), 0.9, 0.1, 0.12, 0.85);
    gl.drawElements(gl.POINTS, layer.marked, gl.UNSIGNED_INT, 0);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  drawGround(which, eye, matrix, scene) {
    const { gl } = this;
    const { program, at } = this.ground;
    gl.useProgram(program);
    gl.uniform3fv(at("eye"), eye);
    gl.uniformMatrix4fv(at("to_picture"), false, matrix);
    gl.uniform3fv(at("ground"), scene.ground);
    gl.uniform1f(at("extent"), scene.extent);
    gl.uniform1f(at("reach"), scene.shadowReach);
    gl.uniform1f(at("cell"), scene.cell);
    gl.uniform1f(at("from_above"), eye[1] > scene.ground[1] ? 1 : 0);
    gl.uniform1i(at("sharp_shadow"), 0);
    gl.uniform1i(at("wide_shadow"), 1);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.shadows[which].wide.texture);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.shadows[which].sharp.texture);
    gl.bindVertexArray(this.nothing);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }
}
