// What is in the picture: the frame that was taken over, its colours, how far everything goes, the camera's way to it.

// Of two bakes one over the other: colours of the first and of the second, those of their captions and graphs.
const BAKE_TINTS = [[0.93, 0.45, 0.19], [0.22, 0.52, 0.95]];
const OVERLAY_OPACITY = 0.62;
// A limit that nobody gave: one percent for volume; for stretch the largest that the log has, or this.
const DEFAULT_STRETCH = 0.1;
const DEFAULT_VOLUME = 0.01;

Object.assign(Viewer.prototype, {
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
  },

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
  },

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
  },

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
  },

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
  },

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
  },

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
  },

  fly(now) {
    if (!this.flight) return;
    const { from, goal, start } = this.flight;
    const part = Math.min(1, (now - start) / 350);
    const eased = part * part * (3 - 2 * part);
    this.camera.target = from.target.map((place, axis) => place + eased * (goal.target[axis] - place));
    this.camera.distance = from.distance * (goal.distance / from.distance) ** eased;
    if (part >= 1) this.flight = null;
    this.dirty = true;
  },

  pictureSize() {
    const canvas = this.drawing.canvas;
    const width = this.compare === "side" ? canvas.clientWidth / 2 : canvas.clientWidth;
    return { width: Math.max(1, width), height: Math.max(1, canvas.clientHeight) };
  },

  layers() {
    return this.bakes.map((made, bake) => {
      const objects = [];
      made.about.objects.forEach((object, o) => {
        if (this.hidden.has(object.name)) return;
        objects.push({
          range: made.geometry.objects[o], isFloor: made.floors?.[o] ?? false, meanEdge: made.meanEdges[o],
          tint: this.tintOf(object, bake), ...this.colourOf(made, o),
        });
      });
      const opacity = this.compare === "overlay" && bake === 1 ? OVERLAY_OPACITY : 1;
      return { buffers: made.buffers, objects, marked: made.marked, opacity };
    });
  },

  // One over the other the bakes are told apart by colour; what colours say of vertices stays readable.
  tintOf(object, bake) {
    if (this.compare !== "overlay" || object.kind === "collider") return [0, 0, 0, 0];
    if (this.colouring === "object") return [...BAKE_TINTS[bake], 0.85];
    return bake === 1 ? [...BAKE_TINTS[1], 0.35] : [0, 0, 0, 0];
  },

  colourOf(made, o) {
    const object = made.about.objects[o];
    if (this.colouring === "stretch") {
      return object.stretch
        ? { colouring: "stretch", colour: HEAT.neutral, limit: this.stretchLimit(made, o) }
        : { colouring: "object", colour: HEAT.neutral, limit: 1 };
    }
    if (this.colouring === "contact") return { colouring: "contact", colour: HEAT.neutral, limit: 1 };
    if (this.colouring === "volume") {
      const error = this.volumeError(made, object.name);
      return { colouring: "object", colour: error === null ? HEAT.neutral : diverging(error / this.volumeLimit()), limit: 1 };
    }
    return { colouring: "object", colour: object.colour, limit: 1 };
  },

  stretchLimit(made, o) {
    const object = made.about.objects[o];
    if (object.limit > 0) return object.limit;
    const frames = made.about.frames;
    const worst = made.log.worstOf(METRICS[0], frames, object.name);
    return Math.max(worst?.value ?? DEFAULT_STRETCH, 1e-6);
  },

  // Of its worst part: that is what the gate looks at.
  volumeError(made, name) {
    const record = made.log.object(made.about.frames[made.decoded], name);
    return record?.max_volume_error ?? (record?.volume_error === undefined ? null : Math.abs(record.volume_error));
  },

  volumeLimit() {
    const gates = this.bakes.map(({ about }) => about.gates?.max_volume_error).filter((gate) => gate > 0);
    return gates.length > 0 ? Math.min(...gates) : DEFAULT_VOLUME;
  },

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
  },

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
  },
});
