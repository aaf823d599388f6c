// The viewer: what is shown, what is wanted next, and everything that can be clicked.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const SECOND_TINT = [0.25, 0.56, 0.98];
const NEUTRAL = [0.74, 0.75, 0.76];
const POLL_MILLISECONDS = 1000;
// A limit that nobody gave: one percent for volume; for stretch the largest that the log has, or this.
const DEFAULT_STRETCH = 0.1;
const DEFAULT_VOLUME = 0.01;

const $ = (id) => document.getElementById(id);
const icon = (name) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
};

class Viewer {
  constructor() {
    this.errors = [];
    this.troubles = new Map();
    this.ready = new Promise((resolve, reject) => { this.resolveReady = resolve; this.rejectReady = reject; });
    this.ready.catch(() => {}); // shown in the page; nobody has to wait for it
    this.bakes = [];
    this.numbers = []; // frame numbers of all bakes
    this.places = []; // of each bake and each of `numbers` the index of its frame
    this.index = 0; // what is wanted
    this.shown = -1; // what is in the picture
    this.waiters = [];
    this.colouring = "object";
    this.compare = "single";
    this.wire = "off";
    this.smooth = true;
    this.loop = true;
    this.speed = 1;
    this.playing = false;
    this.hidden = new Set();
    this.samples = [];
    this.camera = new Camera();
    this.flight = null;
    this.touched = false;
    this.drawn = 0;
    this.firstPicture = null; // seconds after the page was asked for
    this.told = null;
    this.scene = { ground: [0, 0, 0], radius: 1, extent: 10, shadowReach: 2, cell: 0.1 };
    this.dirty = true;
    this.shadowsDirty = true;
    this.scheduled = false;
  }

  async start() {
    window.addEventListener("error", (event) => this.fault(event.error ?? new Error(event.message)));
    window.addEventListener("unhandledrejection", (event) => this.fault(event.reason));
    const embedded = $("kiln-scene") !== null;
    this.source = embedded ? new Embedded() : new Server();
    try {
      this.say("Loading", "scene");
      const scene = await this.source.scene();
      if (!scene.bakes?.length) throw new Trouble("There is no bake to show.");
      this.drawing = new Drawing($("picture"));
      this.cache = embedded ? this.source : new FrameCache(this.source, scene.bakes);
      this.cache.bakes = scene.bakes;
      this.cache.onArrival = () => this.arrived();
      this.cache.onTrouble = (error) => this.trouble("frames", error);
      this.cache.distance = (bake, first, last) => this.distance(bake, first, last);
      this.compare = scene.bakes.length > 1 ? "side" : "single";
      const meshes = await Promise.all(scene.bakes.map((about, bake) => this.source.meshes(bake, about)));
      this.bakes = scene.bakes.map((about, bake) => this.makeBake(about, bake, meshes[bake]));
      this.alignFrames();
      if (this.bakes.some((bake) => bake.about.status === "running")) this.index = Math.max(0, this.numbers.length - 1);
      this.build();
      this.samples = [0.25, 0.5, 0.75, 1].map((part) => Math.floor(part * (this.numbers.length - 1)));
      this.say(null, "scene");
      if (this.numbers.length === 0) this.showRest();
      this.plan();
      this.wake();
      this.bakes.forEach((bake, k) => this.readLog(k));
      this.poll();
    } catch (error) {
      this.say(null, "scene");
      this.fault(error, true);
    }
  }

  makeBake(about, bake, meshes) {
    about.generation = 0;
    const geometry = new Geometry(meshes, about);
    const shape = new Shape(geometry, about);
    const ranges = geometry.objects;
    const meanEdges = ranges.map((range) => {
      let sum = 0;
      let count = 0;
      for (let e = range.firstEdge; e < range.firstEdge + range.edges; e += 1) {
        if (geometry.inverseRest[e] > 0) {
          sum += 1 / geometry.inverseRest[e];
          count += 1;
        }
      }
      return count > 0 ? sum / count : 0;
    });
    const made = {
      about, geometry, shape, meanEdges, log: new Log(about), buffers: this.drawing.buffersFor(geometry),
      decoded: -1, contactOf: -2, stretchOf: -1, marked: 0, boxes: ranges.map(() => emptyBox()),
    };
    about.objects.forEach((object) => { if (object.shown === false) this.hidden.add(object.name); });
    return made;
  }

  // One time line for all bakes: where one of them has no frame, its frame before stands.
  alignFrames() {
    const all = new Set();
    for (const { about } of this.bakes) about.frames.forEach((frame) => all.add(frame));
    this.numbers = [...all].sort((a, b) => a - b);
    this.places = this.bakes.map(({ about }) => {
      let at = 0;
      return this.numbers.map((frame) => {
        while (at + 1 < about.frames.length && about.frames[at + 1] <= frame) at += 1;
        return about.frames.length > 0 ? at : -1;
      });
    });
  }

  range() {
    const planned = this.bakes.map(({ about }) => about.planned_frames).filter(Boolean);
    const firsts = planned.map((range) => range[0]).concat(this.numbers.slice(0, 1));
    const lasts = planned.map((range) => range[1]).concat(this.numbers.slice(-1));
    return firsts.length > 0 ? [Math.min(...firsts), Math.max(...lasts)] : [1, 1];
  }

  hasPicture() {
    return this.firstPicture !== null && this.firstPicture < Infinity;
  }

  fps() {
    return this.bakes[0]?.about.fps || 24;
  }

  // ---- what is wanted

  active() {
    return this.bakes.map((_, bake) => bake);
  }

  distance(bake, first, last) {
    const count = this.bakes[bake]?.about.frames.length ?? 0;
    const now = this.places[bake]?.[this.index] ?? 0;
    if (count === 0 || (now >= first && now <= last)) return 0;
    const ahead = (first - now + count) % count;
    const behind = (now - last + count) % count;
    return Math.min(ahead, 3 * behind);
  }

  // The frame that is to be shown, then some that were never seen, to know how far everything goes, then those that come next.
  plan() {
    if (this.bakes.length === 0) return;
    const wanted = [];
    const add = (index, ahead) => {
      for (const bake of this.active()) {
        const place = this.places[bake][index];
        if (place === undefined || place < 0) continue;
        if (!this.cache.frame(bake, "frames", place)) wanted.push([bake, "frames", place]);
        if (this.colouring === "contact" && ahead <= CONTACT_AHEAD && !this.cache.frame(bake, "contact", place)) wanted.push([bake, "contact", place]);
      }
    };
    add(this.index, 0);
    const size = this.bakes.reduce((sum, { about }) => sum + about.bytes_per_frame, 0);
    const room = Math.floor((0.6 * CACHE_BYTES) / Math.max(1, size));
    const ahead = Math.min(this.numbers.length - 1, room, this.playing ? 400 : AHEAD_WHILE_PAUSED);
    for (let k = 1; k <= Math.min(2, ahead); k += 1) add((this.index + k) % this.numbers.length, k);
    if (this.hasPicture()) this.samples.forEach((index) => add(index, CONTACT_AHEAD + 1));
    for (let k = 3; k <= ahead && wanted.length < 24; k += 1) add((this.index + k) % this.numbers.length, k);
    if (!this.playing) for (let k = 1; k <= 4 && k <= this.index; k += 1) add(this.index - k, CONTACT_AHEAD + 1);
    this.cache.want(wanted);
  }

  arrived() {
    this.plan();
    this.takeSamples();
    this.timelineDirty = true;
    this.wake();
  }

  // Frames far apart say how far everything goes before they are shown.
  takeSamples() {
    if (!this.hasPicture() || this.samples.length === 0) return;
    const left = [];
    for (const index of this.samples) {
      const frames = this.active().map((bake) => this.cache.frame(bake, "frames", this.places[bake][index]));
      if (frames.some((frame) => frame === null)) {
        left.push(index);
        continue;
      }
      this.active().forEach((bake) => {
        const { shape, boxes, about } = this.bakes[bake];
        const seen = (this.sampleShape ??= []);
        seen[bake] ??= { positions: new Float32Array(shape.positions.length), about };
        Shape.prototype.read.call(seen[bake], frames[bake]);
        boxes.forEach((box, o) => shape.widen(box, o, seen[bake].positions));
      });
    }
    this.samples = left;
    if (left.length > 0) return;
    this.sampleShape = null;
    this.measure();
    // Who has not moved the camera yet gets all of the motion into the picture.
    if (!this.touched) this.frameAll(true, true);
  }

  // ---- what is shown

  // Takes over the wanted frame if all of it is here. True if the picture shows it.
  take() {
    if (this.numbers.length === 0) return false;
    const places = this.active().map((bake) => this.places[bake][this.index]);
    const frames = this.active().map((bake) => (places[bake] < 0 ? null : this.cache.frame(bake, "frames", places[bake])));
    if (frames.some((frame, bake) => frame === null && places[bake] >= 0)) return false;
    let whole = true;
    this.active().forEach((bake) => {
      if (places[bake] < 0) return;
      this.decode(bake, places[bake], frames[bake]);
      whole = this.takeContact(bake, places[bake]) && whole;
    });
    if (this.shown !== this.index) {
      this.shown = this.index;
      this.timeline.moveHead(this.numbers[this.shown]);
      this.showFrameFacts();
    }
    return whole;
  }

  decode(bake, place, bytes) {
    const made = this.bakes[bake];
    const { shape, buffers } = made;
    if (made.decoded !== place) {
      shape.read(bytes);
      shape.findNormals();
      this.drawing.upload(buffers.positions, shape.positions);
      this.drawing.upload(buffers.normals, shape.normals);
      made.decoded = place;
      made.stretchOf = -1;
      made.boxes.forEach((box, o) => shape.widen(box, o));
      this.shadowsDirty = true;
      this.dirty = true;
      this.markVertices(made);
    }
    if (this.colouring === "stretch" && made.stretchOf !== place) {
      shape.findStretch();
      this.drawing.upload(buffers.stretch, shape.stretch);
      made.stretchOf = place;
      this.dirty = true;
    }
  }

  takeContact(bake, place) {
    if (this.colouring !== "contact") return true;
    const made = this.bakes[bake];
    const bytes = this.cache.frame(bake, "contact", place);
    if (made.contactOf === place) return true;
    if (bytes) {
      this.drawing.upload(made.buffers.contact, bytes);
      made.contactOf = place;
      this.dirty = true;
      return true;
    }
    // Contact of another frame would be a lie.
    if (made.contactOf !== -1) {
      this.drawing.upload(made.buffers.contact, new Uint8Array(made.geometry.vertexCount));
      made.contactOf = -1;
      this.dirty = true;
    }
    return this.exported() && !this.source.has(bake, "contact");
  }

  // Where promises were broken in the frame, as far as the log's vertices are those of the picture.
  markVertices(made) {
    const frame = made.about.frames[made.decoded];
    const vertices = [];
    for (const [name, degraded] of made.log.degraded(frame)) {
      const o = made.about.objects.findIndex((object) => object.name === name && object.kind !== "render");
      if (o < 0 || this.hidden.has(name)) continue;
      const range = made.geometry.objects[o];
      for (const vertex of degraded.vertices ?? []) if (vertex < range.vertices) vertices.push(range.firstVertex + vertex);
    }
    if (vertices.length > 0) this.drawing.mark(made.buffers, Uint32Array.from(vertices));
    made.marked = vertices.length;
  }

  // Before the first frame of a bake there is its rest shape to look at.
  showRest() {
    for (const made of this.bakes) {
      made.shape.positions.set(made.geometry.rest);
      made.shape.findNormals();
      made.shape.started = false;
      this.drawing.upload(made.buffers.positions, made.shape.positions);
      this.drawing.upload(made.buffers.normals, made.shape.normals);
      made.boxes.forEach((box, o) => made.shape.widen(box, o));
    }
    this.restShown = true;
    this.measure();
    this.frameAll(false);
    this.dirty = true;
    this.shadowsDirty = true;
    this.showStates();
  }

  // Floor, ground, size and grid, from how far everything was seen to go.
  measure() {
    const all = emptyBox();
    const widen = (box, other) => {
      for (let axis = 0; axis < 3; axis += 1) {
        box[axis] = Math.min(box[axis], other[axis]);
        box[axis + 3] = Math.max(box[axis + 3], other[axis + 3]);
      }
    };
    const diagonal = (box) => Math.hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
    const moving = emptyBox();
    this.bakes.forEach(({ about, boxes }) => boxes.forEach((box, o) => { if (about.objects[o].kind !== "collider") widen(moving, box); }));
    const size = Number.isFinite(moving[0]) ? diagonal(moving) : 0;
    let lowest = Infinity;
    this.bakes.forEach(({ boxes }) => boxes.forEach((box) => { lowest = Math.min(lowest, box[1]); }));
    for (const made of this.bakes) {
      // A collider that is flat, level and below everything is the floor: grid and shadow stand for it.
      made.floors = made.boxes.map((box, o) => {
        const flat = box[4] - box[1] <= 1e-4 * Math.max(diagonal(box), 1e-9);
        return made.about.objects[o].kind === "collider" && flat && box[1] - lowest <= 0.02 * Math.max(size, 1e-9);
      });
      made.boxes.forEach((box, o) => {
        if (made.floors[o] || this.hidden.has(made.about.objects[o].name)) return;
        // Walls and terrain around a small thing do not make it smaller.
        if (made.about.objects[o].kind === "collider" && size > 0 && diagonal(box) > 4 * size) return;
        widen(all, box);
      });
    }
    this.bakes.forEach(({ floors, boxes }) => floors.forEach((isFloor, o) => { if (isFloor) lowest = boxes[o][1]; }));
    if (!Number.isFinite(all[0])) widen(all, Number.isFinite(moving[0]) ? moving : [-1, 0, -1, 1, 1, 1]);
    const radius = Math.max(diagonal(all) / 2, 1e-6);
    this.focus = all;
    this.camera.radius = radius;
    const height = all[4] - Math.min(lowest, all[1]);
    this.scene = {
      ground: [(all[0] + all[3]) / 2, Number.isFinite(lowest) ? lowest : 0, (all[2] + all[5]) / 2],
      radius,
      extent: 9 * radius,
      shadowReach: 1.12 * (Math.max(all[3] - all[0], all[5] - all[2]) / 2 + 0.57 * height) + 0.1 * radius,
      cell: 10 ** Math.round(Math.log10(radius / 5)),
    };
    this.shadowsDirty = true;
    this.dirty = true;
  }

  // Of what is in the picture now, or of all motion that was seen.
  frameAll(smoothly = true, everything = false) {
    let box = this.focus;
    if (!everything && this.shown >= 0) {
      const kept = this.bakes.map((made) => made.boxes);
      this.bakes.forEach((made) => { made.boxes = made.boxes.map((_, o) => made.shape.widen(emptyBox(), o)); });
      this.measure();
      box = this.focus;
      this.bakes.forEach((made, bake) => { made.boxes = kept[bake]; });
      this.measure();
    }
    const { width, height } = this.pictureSize();
    const goal = this.camera.framing(box, width / Math.max(1, height));
    if (!smoothly) Object.assign(this.camera, goal);
    else this.flight = { from: { target: this.camera.target, distance: this.camera.distance }, goal, start: performance.now() };
    this.dirty = true;
    this.wake();
  }

  fly(now) {
    if (!this.flight) return;
    const { from, goal, start } = this.flight;
    const part = Math.min(1, (now - start) / 350);
    const eased = part * part * (3 - 2 * part);
    this.camera.target = from.target.map((place, axis) => place + eased * (goal.target[axis] - place));
    this.camera.distance = from.distance * (goal.distance / from.distance) ** eased;
    if (part >= 1) this.flight = null;
    this.dirty = true;
  }

  pictureSize() {
    const canvas = this.drawing.canvas;
    const width = this.compare === "side" ? canvas.clientWidth / 2 : canvas.clientWidth;
    return { width: Math.max(1, width), height: Math.max(1, canvas.clientHeight) };
  }

  // ---- the loop: it runs while something moves and sleeps otherwise

  wake() {
    if (this.scheduled || !this.drawing) return;
    this.scheduled = true;
    requestAnimationFrame((now) => {
      this.scheduled = false;
      this.tick(now);
    });
  }

  tick(now) {
    if (this.lost) return;
    this.advance(now);
    const whole = this.take();
    this.showBusy(whole, now);
    if (this.firstPicture === null && this.shown >= 0) {
      this.measure();
      this.frameAll(false);
    }
    this.fly(now);
    if (this.dirty && (this.shown >= 0 || this.restShown)) this.draw();
    if (this.timelineDirty && now - (this.timelineDrawn ?? -1000) > 250) {
      this.timelineDirty = false;
      this.timelineDrawn = now;
      this.timeline.drawScrub();
    }
    if (this.firstPicture === null && this.shown >= 0) {
      this.firstPicture = Infinity; // handed to the driver, not there yet
      this.drawing.whenDone(() => {
        this.firstPicture = performance.now() / 1000;
        this.resolveReady();
        this.arrived();
      });
    }
    if (whole && this.shown === this.index && this.waiters.length > 0) {
      this.waiters.splice(0).forEach((waiter) => waiter(this.numbers[this.shown]));
    }
    if (this.playing || this.flight || this.dirty || this.timelineDirty) this.wake();
  }

  // The clock of the play head. It stands still while the next frame is not here.
  advance(now) {
    const passed = Math.min(0.25, (now - (this.lastTick ?? now)) / 1000);
    this.lastTick = now;
    if (!this.playing || this.numbers.length === 0) return;
    if (this.shown !== this.index) return;
    const last = this.numbers.length - 1;
    this.clock += passed * this.fps() * this.speed;
    const step = Math.max(1, this.index < last ? this.numbers[this.index + 1] - this.numbers[this.index] : this.timeline.step ?? 1);
    if (this.clock < step) return;
    let next = this.index;
    while (next < last && this.numbers[next + 1] - this.numbers[this.index] <= this.clock) next += 1;
    if (next > this.index) {
      this.clock -= this.numbers[next] - this.numbers[this.index];
      this.clock = Math.min(this.clock, step);
      this.go(next);
    } else if (this.isRunning()) {
      this.clock = 0; // more is to come
    } else if (this.loop && last > 0) {
      this.clock = 0;
      this.go(0);
    } else {
      this.pause();
    }
  }

  isRunning() {
    return this.bakes.some(({ about }) => about.status === "running");
  }

  go(index) {
    this.index = Math.max(0, Math.min(this.numbers.length - 1, index));
    this.showNumber();
    this.plan();
    this.wake();
  }

  // To a frame number, or the nearest there is before it.
  goTo(frame) {
    let index = 0;
    while (index + 1 < this.numbers.length && this.numbers[index + 1] <= frame) index += 1;
    this.go(index);
  }

  play() {
    if (this.numbers.length === 0) return;
    if (this.index === this.numbers.length - 1 && !this.isRunning()) this.go(0);
    this.playing = true;
    this.clock = 0;
    this.showControls();
    this.plan();
    this.wake();
  }

  pause() {
    this.playing = false;
    this.showControls();
    this.plan();
  }

  step(count) {
    this.pause();
    this.go(this.index + count);
  }

  mark(direction) {
    const frame = this.timeline.nextMark(this.numbers[this.index] ?? 0, direction);
    if (frame === null) return;
    this.pause();
    this.goTo(frame);
    const why = this.timeline.marks.filter((mark) => mark.frame === frame);
    this.tell(frame, (why.find((mark) => mark.kind === "degraded") ?? why[0])?.why[0]);
  }

  worst() {
    const found = this.bakes.map(({ log, about }) => log.worst(about.frames)).filter(Boolean);
    if (found.length === 0) return;
    found.sort((a, b) => a.rank - b.rank || b.size - a.size);
    this.pause();
    this.goTo(found[0].frame);
    this.tell(found[0].frame, found[0].why);
  }

  // Says why the viewer went to a frame, as long as it is there.
  tell(frame, text) {
    this.told = { frame, text: text ?? "" };
    this.showFrameFacts();
  }

  // ---- drawing

  layers() {
    return this.bakes.map((made, bake) => {
      const over = this.compare === "overlay" && bake === 1;
      const objects = [];
      made.about.objects.forEach((object, o) => {
        if (this.hidden.has(object.name)) return;
        objects.push({
          range: made.geometry.objects[o], isFloor: made.floors?.[o] ?? false, meanEdge: made.meanEdges[o], ...this.colourOf(made, o),
        });
      });
      return {
        buffers: made.buffers, objects, marked: made.marked, opacity: over ? 0.62 : 1,
        tint: [...SECOND_TINT, over ? (this.colouring === "object" ? 0.8 : 0.35) : 0],
      };
    });
  }

  colourOf(made, o) {
    const object = made.about.objects[o];
    if (this.colouring === "stretch") {
      return object.stretch
        ? { colouring: "stretch", colour: NEUTRAL, limit: this.stretchLimit(made, o) }
        : { colouring: "object", colour: NEUTRAL, limit: 1 };
    }
    if (this.colouring === "contact") return { colouring: "contact", colour: NEUTRAL, limit: 1 };
    if (this.colouring === "volume") {
      const error = this.volumeError(made, object.name);
      return { colouring: "object", colour: error === null ? NEUTRAL : this.diverging(error / this.volumeLimit()), limit: 1 };
    }
    return { colouring: "object", colour: object.colour, limit: 1 };
  }

  stretchLimit(made, o) {
    const object = made.about.objects[o];
    if (object.limit > 0) return object.limit;
    const frames = made.about.frames;
    const worst = made.log.worstOf(METRICS[0], frames, object.name);
    return Math.max(worst?.value ?? DEFAULT_STRETCH, 1e-6);
  }

  volumeError(made, name) {
    const record = made.log.object(made.about.frames[made.decoded], name);
    return record?.volume_error ?? record?.max_volume_error ?? null;
  }

  volumeLimit() {
    const gates = this.bakes.map(({ about }) => about.gates?.max_volume_error).filter((gate) => gate > 0);
    return gates.length > 0 ? Math.min(...gates) : DEFAULT_VOLUME;
  }

  // The same colours as in the shader.
  diverging(value) {
    const mix = (a, b, part) => a.map((x, k) => x + part * (b[k] - x));
    const end = value < 0 ? [0.16, 0.4, 0.82] : [0.84, 0.17, 0.15];
    const inside = mix([0.95, 0.95, 0.94], end, Math.min(1, Math.abs(value)));
    const over = Math.max(0, Math.min(1, (value - 1.02) / 0.48));
    return mix(inside, [0.38, 0, 0.22], over * over * (3 - 2 * over));
  }

  draw() {
    this.dirty = false;
    const { canvas } = this.drawing;
    const ratio = Math.min(2, devicePixelRatio || 1);
    const [width, height] = [Math.max(1, Math.round(canvas.clientWidth * ratio)), Math.max(1, Math.round(canvas.clientHeight * ratio))];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const layers = this.layers();
    const pictures = this.compare === "side" ? layers.map((layer) => [layer]) : [layers];
    const style = { wire: this.wire, smooth: this.smooth, pixelRatio: ratio };
    if (this.shadowsDirty) {
      pictures.forEach((shown, which) => this.drawing.drawShadow(which, shown, this.scene));
      this.shadowsDirty = false;
    }
    pictures.forEach((shown, which) => {
      const left = Math.round((which * width) / pictures.length);
      const right = Math.round(((which + 1) * width) / pictures.length);
      this.drawing.drawPicture(which, [left, 0, right - left, height], this.camera, shown, this.scene, style);
    });
    this.drawn += 1;
  }

  // ---- following a bake

  async readLog(bake) {
    const made = this.bakes[bake];
    try {
      made.log.read(await this.source.log(bake, made.about));
      this.trouble("log", null);
    } catch (error) {
      this.trouble("log", error);
      return;
    }
    this.showTimeline();
    this.markVertices(made);
    this.showObjects();
    this.showFrameFacts();
    this.showLegend();
    this.dirty = true;
    this.wake();
  }

  poll() {
    if (this.exported() || !this.isRunning()) return;
    setTimeout(async () => {
      const before = this.numbers.length;
      const atEnd = this.index >= before - 1;
      let changed = false;
      for (const [bake, made] of this.bakes.entries()) {
        const { about } = made;
        if (about.status !== "running") continue;
        try {
          const now = await this.source.status(bake);
          this.trouble("state", null);
          const grown = now.frames.length !== about.frames.length;
          const same = about.frames.every((frame, k) => frame === now.frames[k]);
          if (!same) {
            // The bake was started again.
            about.generation += 1;
            this.cache.forget?.(bake);
            made.decoded = -1;
          }
          const ended = now.status !== about.status;
          Object.assign(about, { status: now.status, message: now.message, frames: now.frames });
          if (grown || !same || ended) {
            changed = true;
            await this.readLog(bake);
          }
        } catch (error) {
          this.trouble("state", error);
        }
      }
      if (changed) {
        const frame = this.numbers[this.index];
        this.alignFrames();
        if (before === 0 && this.numbers.length > 0) {
          this.restShown = false;
          this.bakes.forEach((made) => { made.boxes = made.boxes.map(() => emptyBox()); });
          this.samples = [];
        }
        this.showTimeline();
        if (atEnd) this.go(this.numbers.length - 1);
        else this.goTo(frame);
      }
      this.showStates();
      this.poll();
    }, POLL_MILLISECONDS);
  }

  exported() {
    return this.source instanceof Embedded;
  }

  // ---- words

  // Something that does not go away by itself and stops the viewer, or a fault of its own.
  fault(error, stops = false) {
    const text = error instanceof Trouble ? error.message : `The viewer made a mistake: ${error?.message ?? error}`;
    this.errors.push(text);
    if (stops || !this.hasPicture()) {
      this.card("This cannot be shown", text, !this.exported());
      this.rejectReady(new Error(text));
    } else {
      this.troubles.set("fault", text);
      this.showTrouble();
    }
  }

  // Something that is tried again; null when it is over.
  trouble(what, error) {
    if (error === null) {
      if (!this.troubles.delete(what)) return;
    } else {
      const text = error instanceof Trouble ? error.message : String(error?.message ?? error);
      if (this.troubles.get(what) !== text) this.errors.push(text);
      this.troubles.set(what, text);
    }
    this.showTrouble();
  }

  showTrouble() {
    const [text] = this.troubles.values();
    $("trouble").hidden = text === undefined;
    $("trouble").textContent = text === undefined ? "" : this.exported() || this.troubles.has("fault") ? text : `${text} Trying again …`;
  }

  card(title, text, again = false) {
    const box = element("div");
    box.append(element("h2", "", title), element("p", "", text));
    if (again) {
      const button = element("button", "", "Try again");
      button.addEventListener("click", () => location.reload());
      box.append(button);
    }
    $("card").replaceChildren(box);
    $("card").hidden = false;
  }

  say(text) {
    $("busy").hidden = text === null;
    if (text !== null) $("busy").lastElementChild.textContent = text;
  }

  showBusy(whole, now) {
    if (whole || this.numbers.length === 0) {
      this.waitingSince = null;
      this.say(null);
      return;
    }
    this.waitingSince ??= now;
    const contact = this.shown === this.index;
    if (now - this.waitingSince > 150) this.say(contact ? "Working out contact" : `Loading frame ${this.numbers[this.index]}`);
    else setTimeout(() => this.wake(), 160);
  }

  // ---- controls

  build() {
    this.timeline = new Timeline($("timeline"), (frame) => {
      this.pause();
      this.goTo(frame);
    });
    this.timeline.cached = (k) => this.bakes.every((_, bake) => this.cache.frame(bake, "frames", this.places[bake][k]) !== null);
    SPEEDS.forEach((speed) => $("speed").append(new Option(`${speed} ×`, String(speed), speed === 1, speed === 1)));
    const buttons = {
      first: () => { this.pause(); this.go(0); },
      last: () => { this.pause(); this.go(this.numbers.length - 1); },
      back: () => this.step(-1),
      forward: () => this.step(1),
      play: () => (this.playing ? this.pause() : this.play()),
      loop: () => { this.loop = !this.loop; },
      worst: () => this.worst(),
      wire: () => { this.wire = { off: "over", over: "only", only: "off" }[this.wire]; },
      smooth: () => { this.smooth = !this.smooth; },
      "frame-all": () => { this.touched = true; this.frameAll(); },
      graphs: () => document.body.classList.toggle("without-graphs"),
      "objects-toggle": () => document.body.classList.toggle("without-objects"),
      "help-toggle": () => ($("help").open ? $("help").close() : $("help").showModal()),
    };
    for (const [id, action] of Object.entries(buttons)) {
      $(id).addEventListener("click", (event) => {
        action();
        // The space bar plays; it does not press the button that was clicked last.
        event.currentTarget.blur();
        this.showControls();
        this.changed();
      });
    }
    document.querySelectorAll("[data-colouring]").forEach((button) => button.addEventListener("click", () => { this.setColouring(button.dataset.colouring); button.blur(); }));
    document.querySelectorAll("[data-compare]").forEach((button) => button.addEventListener("click", () => { this.setCompare(button.dataset.compare); button.blur(); }));
    $("speed").addEventListener("change", () => { this.speed = Number($("speed").value); $("speed").blur(); this.showControls(); });
    $("whose").addEventListener("change", () => { this.timeline.setName($("whose").value || null); $("whose").blur(); });
    $("number").addEventListener("change", () => {
      const frame = Number($("number").value);
      if (Number.isFinite(frame) && $("number").value.trim() !== "") {
        this.pause();
        this.goTo(frame);
      }
      $("number").blur();
      this.showNumber();
    });
    $("number").addEventListener("focus", () => $("number").select());
    if (innerWidth < 760) document.body.classList.add("without-objects");
    this.listenToKeys();
    this.listenToPointers();
    const canvas = this.drawing.canvas;
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
      this.trouble("graphics", new Trouble("The graphics driver took the picture away."));
    });
    canvas.addEventListener("webglcontextrestored", () => this.restore());
    new ResizeObserver(() => this.changed()).observe($("stage"));
    this.showTimeline();
    this.showControls();
    this.showObjects();
    this.showStates();
    this.showNumber();
  }

  restore() {
    this.drawing.setUp();
    for (const made of this.bakes) {
      made.buffers = this.drawing.buffersFor(made.geometry);
      made.decoded = -1;
      made.contactOf = -2;
      made.shape.started = false;
    }
    this.lost = false;
    this.trouble("graphics", null);
    if (this.restShown) this.showRest();
    this.changed();
  }

  changed() {
    this.dirty = true;
    this.wake();
  }

  setColouring(colouring) {
    this.colouring = colouring;
    this.showControls();
    this.showLegend();
    this.showObjects();
    this.showFrameFacts();
    this.plan();
    this.changed();
  }

  setCompare(compare) {
    if (this.bakes.length < 2) return;
    this.compare = compare;
    this.showControls();
    this.showStates();
    this.shadowsDirty = true;
    this.changed();
  }

  toggle(name, alone) {
    const names = this.objectNames();
    if (alone) {
      const already = names.every((other) => this.hidden.has(other) !== (other === name));
      names.forEach((other) => { if (already || other === name) this.hidden.delete(other); else this.hidden.add(other); });
    } else if (!this.hidden.delete(name)) {
      this.hidden.add(name);
    }
    this.bakes.forEach((made) => this.markVertices(made));
    this.measure();
    this.showObjects();
    this.changed();
  }

  objectNames() {
    return [...new Set(this.bakes.flatMap(({ about }) => about.objects.map((object) => object.name)))];
  }

  listenToKeys() {
    const act = {
      " ": () => (this.playing ? this.pause() : this.play()),
      Home: () => { this.pause(); this.go(0); },
      End: () => { this.pause(); this.go(this.numbers.length - 1); },
      "[": () => this.mark(-1),
      "]": () => this.mark(1),
      ",": () => this.changeSpeed(-1),
      ".": () => this.changeSpeed(1),
      "?": () => $("help-toggle").click(),
      x: () => this.setCompare(this.compare === "side" ? "overlay" : "side"),
      m: () => this.worst(),
      l: () => $("loop").click(),
      f: () => $("frame-all").click(),
      w: () => $("wire").click(),
      s: () => $("smooth").click(),
      g: () => $("graphs").click(),
      o: () => $("objects-toggle").click(),
    };
    ["object", "stretch", "contact", "volume"].forEach((colouring, k) => {
      act[String(k + 1)] = () => { if (!document.querySelector(`[data-colouring="${colouring}"]`).disabled) this.setColouring(colouring); };
    });
    window.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, select")) return;
      if ($("help").open && event.key !== "?") return;
      let action = act[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (event.key === "ArrowLeft") action = () => this.step(event.shiftKey ? -10 : -1);
      if (event.key === "ArrowRight") action = () => this.step(event.shiftKey ? 10 : 1);
      if (!action) return;
      event.preventDefault();
      action();
    });
  }

  changeSpeed(direction) {
    const at = SPEEDS.indexOf(this.speed) + direction;
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))];
    $("speed").value = String(this.speed);
    this.showControls();
  }

  listenToPointers() {
    const { canvas } = this.drawing;
    const pointers = new Map();
    let pans = false;
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      pans = event.button !== 0 || event.shiftKey;
      canvas.classList.add("dragged");
      this.touched = true;
      this.flight = null;
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const height = canvas.clientHeight;
      const now = { x: event.clientX, y: event.clientY };
      const [dx, dy] = [now.x - before.x, now.y - before.y];
      if (pointers.size === 1) {
        if (pans) this.camera.pan(dx, dy, height);
        else this.camera.orbit(dx, dy, height);
      } else if (pointers.size === 2) {
        const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        const apart = (a, b) => Math.max(20, Math.hypot(a.x - b.x, a.y - b.y));
        this.camera.pan(dx / 2, dy / 2, height);
        const middle = this.fromMiddle((now.x + other.x) / 2, (now.y + other.y) / 2);
        this.camera.zoom(apart(before, other) / apart(now, other), middle.x, middle.y, height);
      }
      pointers.set(event.pointerId, now);
      this.changed();
    });
    const end = (event) => {
      pointers.delete(event.pointerId);
      if (pointers.size === 0) canvas.classList.remove("dragged");
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.touched = true;
      this.flight = null;
      const lines = event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1;
      const middle = this.fromMiddle(event.clientX, event.clientY);
      this.camera.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY * lines)) * 0.0016), middle.x, middle.y, canvas.clientHeight);
      this.changed();
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => {
      const target = this.pick(event.clientX, event.clientY);
      if (!target) return;
      this.flight = { from: { target: this.camera.target, distance: this.camera.distance }, goal: { target, distance: this.camera.distance }, start: performance.now() };
      this.wake();
    });
  }

  // Pixels from the middle of the picture that the pointer is in.
  fromMiddle(clientX, clientY) {
    const box = this.drawing.canvas.getBoundingClientRect();
    const width = this.compare === "side" ? box.width / 2 : box.width;
    const x = clientX - box.left;
    return { x: (x % width) - width / 2, y: clientY - box.top - box.height / 2, which: this.compare === "side" && x >= width ? 1 : 0 };
  }

  // The place of the vertex under the pointer, the nearest one of those in a small circle.
  pick(clientX, clientY) {
    const { x, y, which } = this.fromMiddle(clientX, clientY);
    const { right, up, forward } = this.camera.axes();
    const eye = this.camera.eye();
    const scale = this.drawing.canvas.clientHeight / (2 * Math.tan(FIELD_OF_VIEW / 2));
    let best = null;
    let nearest = Infinity;
    const { shape, geometry, about, floors } = this.bakes[which];
    about.objects.forEach((object, o) => {
      if (this.hidden.has(object.name) || floors?.[o]) return;
      const range = geometry.objects[o];
      for (let k = 3 * range.firstVertex; k < 3 * (range.firstVertex + range.vertices); k += 3) {
        const [px, py, pz] = [shape.positions[k] - eye[0], shape.positions[k + 1] - eye[1], shape.positions[k + 2] - eye[2]];
        const depth = px * forward[0] + py * forward[1] + pz * forward[2];
        if (depth <= 0 || depth >= nearest) continue;
        const across = ((px * right[0] + py * right[1] + pz * right[2]) / depth) * scale - x;
        const above = (-(px * up[0] + py * up[1] + pz * up[2]) / depth) * scale - y;
        if (across * across + above * above > 225) continue;
        nearest = depth;
        best = [shape.positions[k], shape.positions[k + 1], shape.positions[k + 2]];
      }
    });
    return best;
  }

  // ---- what the controls show

  showTimeline() {
    this.timeline.setData(this.bakes.map(({ about }) => about), this.bakes.map(({ log }) => log), this.numbers, this.range());
    const names = [...new Set(this.bakes.flatMap(({ log }) => log.names))];
    const key = names.join("\n");
    if (key !== this.whoseKey) {
      this.whoseKey = key;
      $("whose").replaceChildren(new Option("Worst of all objects", ""), ...names.map((name) => new Option(name, name)));
      $("whose").value = this.timeline.name ?? "";
    }
    $("whose-label").hidden = names.length < 2;
    $("worst").disabled = !this.bakes.some(({ log, about }) => log.worst(about.frames));
    this.showNumber();
  }

  showNumber() {
    const last = this.range()[1];
    if (document.activeElement !== $("number")) $("number").value = this.numbers.length > 0 ? String(this.numbers[this.index]) : "–";
    $("of").textContent = this.numbers.length > 0 ? `of ${last}` : "";
  }

  showControls() {
    const press = (id, on) => $(id).setAttribute("aria-pressed", String(on));
    $("play").querySelector("use").setAttribute("href", this.playing ? "#icon-pause" : "#icon-play");
    $("play").title = this.playing ? "Pause (space)" : "Play (space)";
    press("loop", this.loop);
    press("wire", this.wire !== "off");
    press("smooth", this.smooth);
    press("graphs", !document.body.classList.contains("without-graphs"));
    press("objects-toggle", !document.body.classList.contains("without-objects"));
    $("rate").textContent = `${Number((this.fps() * this.speed).toFixed(2))} frames/s`;
    document.querySelectorAll("[data-colouring]").forEach((button) => {
      button.setAttribute("role", "radio");
      button.setAttribute("aria-checked", String(button.dataset.colouring === this.colouring));
    });
    document.querySelectorAll("[data-compare]").forEach((button) => {
      button.setAttribute("role", "radio");
      button.setAttribute("aria-checked", String(button.dataset.compare === this.compare));
    });
    $("compares").hidden = this.bakes.length < 2;
    const contact = document.querySelector('[data-colouring="contact"]');
    contact.disabled = this.exported() && !this.source.has(0, "contact");
    if (contact.disabled) contact.title = "This page was exported without contact";
    const volume = document.querySelector('[data-colouring="volume"]');
    volume.disabled = this.bakes.every(({ about }) => about.status === null);
    if (volume.disabled) volume.title = "glTF files say nothing about volume";
  }

  // Titles, states, captions, and what there is to say when there is no frame.
  showStates() {
    const words = {
      complete: ["complete", "good"], running: ["baking", "running"], failed: ["failed", "bad"], gates_failed: ["missed its gates", "warn"],
    };
    $("titles").replaceChildren(...this.bakes.map(({ about }, bake) => {
      const title = element("span", bake === 1 ? "title second" : "title");
      if (this.bakes.length > 1) title.append(element("span", "dot"));
      title.append(element("b", "", about.title));
      const [text, kind] = words[about.status] ?? [];
      if (text) {
        const planned = about.planned_frames;
        const progress = about.status === "running" && planned ? ` ${about.frames[about.frames.length - 1] ?? "–"} of ${planned[1]}` : "";
        const chip = element("span", `chip ${kind}`, text + progress);
        chip.title = about.message ?? "";
        title.append(chip);
      }
      return title;
    }));
    document.title = `${this.bakes.map(({ about }) => about.title).join(" and ")} – Kiln`;
    const failed = this.bakes.find(({ about }) => about.status === "failed");
    if (this.numbers.length === 0) {
      const { about } = this.bakes[0];
      if (about.status === "running") this.card("No frame yet", "The bake has begun. Its first frame appears here as soon as it is written.");
      else this.card("There is no frame", about.message ?? "The bake ended before its first frame was written.");
    } else {
      $("card").hidden = true;
    }
    // What stopped the bake is said once, above the picture of what it left.
    this.trouble("bake", failed && this.numbers.length > 0 ? new Trouble(`The bake of "${failed.about.title}" failed. ${failed.about.message ?? ""}`) : null);
    this.showCaptions();
  }

  showCaptions() {
    const captions = [];
    if (this.bakes.length > 1) {
      this.bakes.forEach((made, bake) => {
        const caption = element("div", bake === 1 ? "caption second" : "caption");
        caption.append(element("span", "dot"));
        const frame = made.about.frames[made.decoded];
        const text = element("span");
        text.append(element("b", "", made.about.title), ` frame ${frame ?? "–"}`);
        caption.append(text);
        captions.push(caption);
      });
    }
    const [captionsElement] = [$("captions")];
    captionsElement.style.flexDirection = this.compare === "overlay" ? "column" : "row";
    captionsElement.classList.toggle("overlaid", this.compare === "overlay");
    captionsElement.replaceChildren(...captions);
  }

  // What changes with every frame besides the picture.
  showFrameFacts() {
    this.showNumber();
    if (this.bakes.length > 1) this.showCaptions();
    for (const row of $("objects").querySelectorAll(".object")) this.showFigures(row.dataset.name, row.querySelector(".figures"));
    const frame = this.numbers[this.shown];
    const degraded = this.bakes.flatMap(({ log, about, decoded }) => log.degraded(about.frames[decoded]).map((entry) => log.describe(entry)));
    if (this.told && this.told.frame !== frame && this.shown === this.index) this.told = null;
    const told = this.told?.text ?? "";
    $("said").textContent = degraded.length > 0 ? degraded.join("; ") : told;
    $("said").title = $("said").textContent;
    $("said").style.color = degraded.length > 0 ? "" : "var(--warn)";
    const facts = $("objects").querySelector(".facts");
    if (!facts) return;
    const rows = [];
    this.bakes.forEach(({ log, about, decoded }) => {
      const record = log.records.get(about.frames[decoded]);
      if (!record) return;
      const title = this.bakes.length > 1 ? `${about.title}: ` : "";
      rows.push([`${title}time`, seconds(record.seconds)], [`${title}substeps`, String(record.substeps)]);
    });
    facts.hidden = rows.length === 0;
    facts.replaceChildren(...rows.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
  }

  showFigures(name, place) {
    const lines = [];
    for (const { log, about, decoded } of this.bakes) {
      const record = log.object(about.frames[decoded], name);
      if (!record) continue;
      const parts = [];
      if (record.max_volume_error !== undefined || record.volume_error !== undefined) parts.push(`volume ${percent(record.volume_error ?? record.max_volume_error)}`);
      else parts.push(`stretch ${percent(record.max_stretch)}`);
      if (record.contacts > 0) parts.push(`${record.contacts} contacts`);
      if (record.crossings > 0) parts.push(`${record.crossings} crossings`);
      lines.push([parts.join(" · "), (record.degraded ?? []).length > 0]);
    }
    place.replaceChildren(...lines.map(([text, bad]) => element("div", bad ? "bad" : "", text)));
  }

  showObjects() {
    const kinds = { cloth: "cloth", soft_body: "soft body", render: "render mesh", collider: "collider", mesh: "mesh" };
    const heading = element("h2", "", "Objects");
    const all = element("button", "", "show all");
    all.addEventListener("click", () => {
      this.hidden.clear();
      this.bakes.forEach((made) => this.markVertices(made));
      this.measure();
      this.showObjects();
      this.changed();
    });
    if (this.hidden.size > 0) heading.append(all);
    const seen = new Map();
    for (const { about } of this.bakes) for (const object of about.objects) if (!seen.has(object.name)) seen.set(object.name, object);
    const rows = [...seen.values()].map((object) => {
      const shown = !this.hidden.has(object.name);
      const row = element("button", "object");
      row.dataset.name = object.name;
      row.setAttribute("aria-pressed", String(shown));
      row.title = `${object.name}: ${object.vertices} vertices, ${object.triangles} triangles. Click to ${shown ? "hide" : "show"}, with alt to show it alone`;
      const swatch = element("span", "swatch");
      swatch.style.background = `rgb(${object.colour.map((part) => Math.round(255 * part)).join(" ")})`;
      const name = element("span", "name", object.name);
      name.append(element("small", "", kinds[object.kind] ?? object.kind));
      const eye = element("span", "eye");
      eye.append(icon(shown ? "eye" : "hidden"));
      const figures = element("span", "figures");
      row.append(swatch, name, eye, figures);
      row.addEventListener("click", (event) => this.toggle(object.name, event.altKey));
      this.showFigures(object.name, figures);
      return row;
    });
    const facts = element("dl", "facts");
    const scroll = $("objects").scrollTop;
    $("objects").replaceChildren(heading, ...rows, facts);
    $("objects").scrollTop = scroll;
    if (this.shown >= 0) this.showFrameFacts();
  }

  showLegend() {
    const legend = $("legend");
    legend.hidden = this.colouring === "object";
    if (legend.hidden) return;
    const css = (colour) => `rgb(${colour.map((part) => Math.round(255 * part)).join(" ")})`;
    const scale = element("div", "scale");
    const ends = element("div", "ends");
    const show = (title, texts, note) => {
      ends.append(...texts.map((text) => element("span", "", text)));
      legend.replaceChildren(element("h3", "", title), scale, ends);
      if (note) legend.append(element("p", "", note));
    };
    const diverging = [-1, -0.5, 0, 0.5, 1, 1.5].map((value) => css(this.diverging(value)));
    if (this.colouring === "contact") {
      scale.style.background = "linear-gradient(90deg, rgb(219 222 224), rgb(250 194 97), rgb(204 56 26))";
      const reach = this.bakes[0].about.contact_reach;
      show("Distance to the nearest other object", [`${millimetres(reach)} or more`, "touches"]);
      return;
    }
    scale.style.background = `linear-gradient(90deg, ${diverging.map((colour, k) => `${colour} ${k * 20}%`).join(", ")})`;
    if (this.colouring === "volume") {
      const limit = this.volumeLimit();
      const known = this.bakes.some(({ log }) => log.worstOf(METRICS[1], log.records.keys(), null));
      const given = this.bakes.some(({ about }) => about.gates?.max_volume_error > 0);
      show("Volume error of each body", [`−${percent(limit)}`, "0", percent(limit), "over"],
        known ? (given ? "The scale is the gate max_volume_error." : "There is no gate; the scale is 1 %.") : "The log says nothing about volume: there is no soft body.");
      return;
    }
    const limits = [];
    for (const made of this.bakes) {
      made.about.objects.forEach((object, o) => {
        if (object.stretch && !this.hidden.has(object.name)) limits.push([object.name, this.stretchLimit(made, o), object.limit > 0]);
      });
    }
    const values = [...new Set(limits.map(([, limit]) => limit))];
    if (values.length === 0) {
      show("Edge stretch", ["", ""], "No object that is shown has edges that keep a length.");
    } else if (values.length === 1) {
      show("Edge stretch", [`−${percent(values[0])}`, "0", percent(values[0]), "over"],
        limits.every(([, , given]) => given) ? "The scale is the limit of the object." : "No limit was given; the scale is the largest stretch of the bake.");
    } else {
      const list = [...new Map(limits.map(([name, limit]) => [name, limit]))].slice(0, 5).map(([name, limit]) => `${name} ${percent(limit)}`);
      show("Edge stretch, by the limit of each object", ["shorter", "0", "limit", "over"], list.join(", ") + (limits.length > 5 ? ", …" : ""));
    }
  }
}

// ---- for tests

const viewer = new Viewer();

window.kiln = {
  // When the first picture is there; fails with the words that the page shows.
  ready: viewer.ready,
  // The number of the frame in the picture.
  frame: () => viewer.numbers[viewer.shown] ?? null,
  // Goes to a frame; done when it is drawn with everything that its colouring needs.
  setFrame: (frame) => {
    const index = viewer.numbers.indexOf(frame);
    if (index < 0) return Promise.reject(new Error(`there is no frame ${frame}`));
    viewer.pause();
    viewer.go(index);
    return viewer.settled();
  },
  play: () => viewer.play(),
  pause: () => viewer.pause(),
  setColouring: (colouring) => { viewer.setColouring(colouring); return viewer.settled(); },
  setCompare: (compare) => { viewer.setCompare(compare); return viewer.settled(); },
  // What is in the buffers that are drawn, of an object by name or number.
  positions: (bake, object) => viewer.readBack(bake, object, "positions", 3),
  stretch: (bake, object) => viewer.readBack(bake, object, "stretch", 1),
  contact: (bake, object) => viewer.readBack(bake, object, "contact", 1),
  // Frames a second of everything that a new frame needs before it is drawn: its places, normals and (if asked for) stretch,
  // up to and with handing them to WebGL.
  decodeBenchmark: (count, withStretch = false) => viewer.decodeBenchmark(count, withStretch),
  state: () => viewer.state(),
};

Object.assign(Viewer.prototype, {
  settled() {
    return new Promise((resolve) => {
      this.dirty = true;
      this.waiters.push(resolve);
      this.wake();
    });
  },

  readBack(bake, object, buffer, size) {
    const made = this.bakes[bake];
    const o = typeof object === "number" ? object : made.about.objects.findIndex(({ name }) => name === object);
    const range = made.geometry.objects[o];
    if (!range) throw new Error(`bake ${bake} has no object ${object}`);
    const Kind = buffer === "contact" ? Uint8Array : Float32Array;
    return this.drawing.download(made.buffers[buffer], size * Kind.BYTES_PER_ELEMENT * range.firstVertex, new Kind(size * range.vertices));
  },

  async decodeBenchmark(count, withStretch) {
    const made = this.bakes[0];
    this.pause();
    const frames = [];
    for (let place = 0; place < made.about.frames.length && frames.length < 8; place += 1) {
      this.go(this.numbers.indexOf(made.about.frames[place]));
      await this.settled();
      const bytes = this.cache.frame(0, "frames", place);
      if (bytes) frames.push(bytes);
    }
    const start = performance.now();
    for (let k = 0; k < count; k += 1) {
      made.shape.read(frames[k % frames.length]);
      made.shape.findNormals();
      if (withStretch) {
        made.shape.findStretch();
        this.drawing.upload(made.buffers.stretch, made.shape.stretch);
      }
      this.drawing.upload(made.buffers.positions, made.shape.positions);
      this.drawing.upload(made.buffers.normals, made.shape.normals);
    }
    const took = (performance.now() - start) / 1000;
    made.decoded = -1;
    await this.settled();
    return count / took;
  },

  state() {
    return {
      frame: this.numbers[this.shown] ?? null,
      wanted: this.numbers[this.index] ?? null,
      frames: this.numbers,
      playing: this.playing,
      colouring: this.colouring,
      compare: this.compare,
      wire: this.wire,
      smooth: this.smooth,
      loop: this.loop,
      speed: this.speed,
      atEnd: this.index === this.numbers.length - 1,
      bakes: this.bakes.map(({ about }) => ({
        title: about.title, status: about.status, message: about.message, frames: about.frames.length, objects: about.objects.map(({ name }) => name),
      })),
      marks: this.timeline?.marks ?? [],
      hidden: [...this.hidden],
      drawn: this.drawn,
      firstPictureSeconds: this.hasPicture() ? this.firstPicture : null,
      cacheBytes: this.cache?.bytes ?? 0,
      cacheLimit: this.cache?.limit ?? 0,
      requests: this.cache?.requests ?? 0,
      settled: this.samples.length === 0 && this.flight === null && this.shown === this.index,
      errors: this.errors,
      shownTrouble: $("trouble").hidden ? null : $("trouble").textContent,
      shownCard: $("card").hidden ? null : $("card").textContent,
    };
  },
});

viewer.start();
