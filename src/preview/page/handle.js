// What a test, or somebody with the console open, can ask the page.

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
  // How places come into the picture: pixels from the middle, to the right and up, are `scale` times right and up over forward.
  camera: () => viewer.seen(),
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

  seen() {
    const { camera, drawing } = this;
    const { width, height } = this.pictureSize();
    const { left, top } = drawing.canvas.getBoundingClientRect();
    return { eye: camera.eye(), ...camera.axes(), scale: height / (2 * Math.tan(FIELD_OF_VIEW / 2)), left, top, width, height };
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
