// The scrub bar and the graphs under it. They share one axis: the middle of every frame's cell stands at the same place in all
// of them. What is drawn changes with the data only; the play head is an element of its own that moves over it.

const LANE_HEIGHT = 40;
const SCRUB_HEIGHT = 40;
const LINE_COLOURS = ["#ff9a5a", "#6aabff"];
const FILL_COLOURS = ["rgb(255 154 90 / 0.13)", "rgb(106 171 255 / 0.08)"];

class Timeline {
  // `onSeek(frame number)` is called for every place that the pointer goes to.
  constructor(root, onSeek) {
    this.root = root;
    this.onSeek = onSeek;
    this.bakes = [];
    this.logs = [];
    this.range = [1, 1];
    this.frames = [];
    this.name = null;
    this.marks = [];
    this.cached = () => false;

    const row = element("div", "row scrub");
    this.low = element("span", "ends");
    this.high = element("span", "ends");
    this.scrub = element("canvas");
    row.append(this.low, this.scrub, this.high);
    this.lanesElement = element("div", "lanes");
    this.hover = element("div");
    this.hover.id = "hover";
    this.hover.hidden = true;
    this.head = element("div");
    this.head.id = "head";
    root.append(row, this.lanesElement, this.hover, this.head);
    this.lanes = [];
    this.listen(this.scrub, null);
    this.tip = document.getElementById("tip");
    new ResizeObserver(() => this.draw()).observe(root);
  }

  setData(bakes, logs, frames, range) {
    this.bakes = bakes;
    this.logs = logs;
    this.frames = frames;
    this.range = range;
    this.update();
  }

  setName(name) {
    this.name = name;
    this.update();
  }

  // Finds out which lanes have something to show and which frames are marked.
  update() {
    const shown = METRICS.filter((metric) => this.logs.some((log) => log.worstOf(metric, log.records.keys(), this.name)));
    if (shown.map((metric) => metric.id).join() !== this.lanes.map((lane) => lane.metric.id).join()) {
      this.lanesElement.replaceChildren();
      this.lanes = shown.map((metric) => this.addLane(metric));
    }
    this.marks = [];
    this.logs.forEach((log, bake) => {
      const frames = this.bakes[bake].frames;
      for (const frame of log.records.keys()) {
        const degraded = log.degraded(frame);
        if (degraded.length > 0) {
          const at = this.nearestWritten(frames, frame);
          if (at !== null) this.marks.push({ frame: at, bake, kind: "degraded", why: degraded.map((entry) => log.describe(entry)) });
        }
      }
      for (const lane of this.lanes) {
        const worst = log.worstOf(lane.metric, frames, this.name);
        lane.worst[bake] = worst;
        // Where nothing is wrong the largest value is no news: the slowest frame and the most contacts are marked in their graphs only.
        if (worst && !lane.metric.wholeFrame && lane.metric.id !== "contacts") {
          this.marks.push({ frame: worst.frame, bake, kind: "worst", why: [`largest ${lane.metric.name.toLowerCase()}: ${lane.metric.show(worst.value)}`] });
        }
      }
    });
    this.marks.sort((a, b) => a.frame - b.frame);
    this.draw();
  }

  // A frame that was simulated but not written is shown by the next one that was.
  nearestWritten(frames, frame) {
    if (frames.length === 0 || frame < this.range[0] || frame > this.range[1]) return null;
    return frames.find((written) => written >= frame) ?? frames[frames.length - 1];
  }

  addLane(metric) {
    const row = element("div", "row lane");
    const name = element("div", "name", metric.name);
    const detail = element("small");
    name.append(detail);
    const canvas = element("canvas");
    const value = element("div", "value");
    row.append(name, canvas, value);
    this.lanesElement.append(row);
    const lane = { metric, canvas, detail, value, worst: [] };
    this.listen(canvas, lane);
    return lane;
  }

  // Pixels from the left of a canvas that is so wide.
  toPixel(frame, width) {
    return ((frame - this.range[0] + 0.5) / (this.range[1] - this.range[0] + 1)) * width;
  }

  toFrame(event, canvas) {
    const box = canvas.getBoundingClientRect();
    const place = (event.clientX - box.left) / box.width;
    return this.range[0] + Math.floor(Math.max(0, Math.min(0.999999, place)) * (this.range[1] - this.range[0] + 1));
  }

  listen(canvas, lane) {
    let dragged = false;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      dragged = true;
      canvas.setPointerCapture(event.pointerId);
      this.onSeek(this.toFrame(event, canvas));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (dragged) this.onSeek(this.toFrame(event, canvas));
      this.showTip(event, canvas, lane);
    });
    const end = () => { dragged = false; };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      this.hover.hidden = true;
    });
  }

  showTip(event, canvas, lane) {
    if (this.frames.length === 0) return;
    const frame = this.toFrame(event, canvas);
    const box = canvas.getBoundingClientRect();
    this.hover.hidden = false;
    this.hover.style.transform = `translateX(${box.left - this.root.getBoundingClientRect().left + this.toPixel(frame, box.width)}px)`;
    const lines = [element("div", "", `Frame ${frame}`)];
    lines[0].style.fontWeight = 600;
    const has = this.bakes.some((bake) => bake.frames.includes(frame));
    const isAhead = frame > this.frames[this.frames.length - 1] && this.bakes.some((bake) => bake.status === "running");
    if (!has) lines.push(element("div", "dim", isAhead ? "not baked yet" : "not written"));
    this.logs.forEach((log, bake) => {
      const title = this.bakes.length > 1 ? `${this.bakes[bake].title}: ` : "";
      for (const metric of lane ? [lane.metric] : []) {
        const value = log.value(metric, frame, this.name);
        if (value !== undefined) lines.push(element("div", "", `${title}${metric.name.toLowerCase()} ${metric.show(value)}`));
      }
      for (const entry of log.degraded(frame)) lines.push(element("div", "bad", title + log.describe(entry)));
      for (const mark of this.marks) {
        if (mark.frame !== frame || mark.bake !== bake || mark.kind !== "worst") continue;
        lines.push(element("div", "warn", title + mark.why[0]));
      }
    });
    this.tip.replaceChildren(...lines);
    this.tip.hidden = false;
    const { width, height } = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(6, Math.min(innerWidth - width - 6, event.clientX + 12))}px`;
    this.tip.style.top = `${Math.max(6, box.top - height - 8)}px`;
  }

  // The next marked frame in a direction; null if there is none.
  nextMark(frame, direction) {
    const frames = this.marks.map((mark) => mark.frame).filter((at) => (direction > 0 ? at > frame : at < frame));
    if (frames.length === 0) return null;
    return frames.reduce((a, b) => (direction > 0 ? Math.min(a, b) : Math.max(a, b)));
  }

  prepare(canvas, height) {
    const width = canvas.clientWidth;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return { context, width };
  }

  draw() {
    if (this.scrub.clientWidth === 0) return;
    this.low.textContent = "";
    this.high.textContent = "";
    this.drawScrub();
    for (const lane of this.lanes) this.drawLane(lane);
    this.moveHead(this.shownFrame ?? this.range[0]);
  }

  // Numbers, the bar with what is baked and what is in memory, marks.
  drawScrub() {
    const { context, width } = this.prepare(this.scrub, SCRUB_HEIGHT);
    const [first, last] = this.range;
    const cell = width / (last - first + 1);
    const bar = { top: 23, height: 9 };
    context.fillStyle = "#101214";
    context.fillRect(0, bar.top, width, bar.height);
    // What is planned but not baked yet.
    context.save();
    context.beginPath();
    context.rect(0, bar.top, width, bar.height);
    context.clip();
    context.strokeStyle = "#24282d";
    context.lineWidth = 2;
    context.beginPath();
    for (let x = -bar.height; x < width; x += 7) {
      context.moveTo(x, bar.top + bar.height);
      context.lineTo(x + bar.height, bar.top);
    }
    context.stroke();
    context.restore();
    const runs = (test, colour, top, height) => {
      context.fillStyle = colour;
      let start = null;
      for (let k = 0; k <= this.frames.length; k += 1) {
        const frame = this.frames[k];
        const joined = k > 0 && k < this.frames.length && frame - this.frames[k - 1] <= this.step * 1.5;
        if (start !== null && (k === this.frames.length || !test(k) || !joined)) {
          const from = this.toPixel(start, width) - cell / 2;
          // A frame stands until the next one that was written.
          const until = this.toPixel(Math.min(last, this.frames[k - 1] + this.step - 1), width) + cell / 2;
          context.fillRect(from, top, until - from, height);
          start = null;
        }
        if (start === null && k < this.frames.length && test(k)) start = frame;
      }
    };
    this.step = 1;
    let gap = Infinity; // a loop: a call takes only so many arguments
    for (let k = 1; k < this.frames.length; k += 1) gap = Math.min(gap, this.frames[k] - this.frames[k - 1]);
    if (this.frames.length > 1) this.step = Math.max(1, gap);
    runs(() => true, "#3b4149", bar.top, bar.height);
    runs((k) => this.cached(k), "#6b747e", bar.top + bar.height - 3, 3);

    context.font = "11px system-ui, 'Liberation Sans', sans-serif";
    context.textAlign = "center";
    context.textBaseline = "top";
    const enough = 46 / cell;
    const step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000].find((size) => size >= enough) ?? 100000;
    for (let frame = Math.ceil(first / step) * step; frame <= last; frame += step) {
      const x = this.toPixel(frame, width);
      context.fillStyle = "#59616b";
      context.fillRect(Math.round(x), 18, 1, 4);
      context.fillStyle = "#8d949d";
      context.fillText(String(frame), Math.max(10, Math.min(width - 12, x)), 5);
    }
    for (const mark of this.marks) {
      const x = this.toPixel(mark.frame, width);
      if (mark.kind === "degraded") {
        const wide = Math.max(3, Math.min(cell, 10));
        context.fillStyle = "#ff6058";
        context.fillRect(x - wide / 2, bar.top, wide, bar.height);
      } else {
        context.fillStyle = mark.bake === 0 ? "#f3bd50" : "#6aabff";
        context.beginPath();
        context.moveTo(x, bar.top + bar.height + 1);
        context.lineTo(x + 3.5, bar.top + bar.height + 7);
        context.lineTo(x - 3.5, bar.top + bar.height + 7);
        context.fill();
      }
    }
  }

  drawLane(lane) {
    const { context, width } = this.prepare(lane.canvas, LANE_HEIGHT);
    const { metric } = lane;
    const [top, bottom] = [6, LANE_HEIGHT - 5];
    const limits = this.logs.map((log) => log.limit(metric, this.name)).filter((limit) => limit !== null);
    const limit = limits.length > 0 ? Math.min(...limits) : null;
    let most = 0;
    lane.worst.forEach((worst) => { most = Math.max(most, worst?.value ?? 0); });
    lane.detail.textContent = `max ${metric.show(most)}`;
    // The limit is in sight unless everything is far below it.
    const scale = Math.max(most * 1.08, limit !== null && limit < 4 * most ? limit * 1.12 : 0) || 1;
    const toY = (value) => bottom - (value / scale) * (bottom - top);
    context.fillStyle = "#2e3238";
    context.fillRect(0, bottom, width, 1);
    this.logs.forEach((log, bake) => {
      const frames = [...log.records.keys()].filter((frame) => frame >= this.range[0] && frame <= this.range[1]).sort((a, b) => a - b);
      // Of more frames than pixels the worst of each pixel is drawn: no peak is lost.
      const points = [];
      for (const frame of frames) {
        const value = log.value(metric, frame, this.name);
        if (value === undefined) continue;
        const x = this.toPixel(frame, width);
        const before = points[points.length - 1];
        if (before && Math.floor(2 * before[0]) === Math.floor(2 * x)) before[1] = Math.max(before[1], value);
        else points.push([x, value]);
      }
      if (points.length === 0) return;
      const trace = () => {
        context.beginPath();
        points.forEach(([x, value], k) => (k === 0 ? context.moveTo(x, toY(value)) : context.lineTo(x, toY(value))));
      };
      trace();
      context.lineTo(points[points.length - 1][0], bottom);
      context.lineTo(points[0][0], bottom);
      context.fillStyle = FILL_COLOURS[bake];
      context.fill();
      trace();
      context.strokeStyle = LINE_COLOURS[bake];
      context.lineWidth = 1.4;
      context.lineJoin = "round";
      context.stroke();
      const own = log.limit(metric, this.name);
      if (own !== null) {
        // What is over the limit once more in red.
        context.save();
        context.beginPath();
        context.rect(0, 0, width, toY(own));
        context.clip();
        trace();
        context.strokeStyle = "#ff6058";
        context.lineWidth = 1.8;
        context.stroke();
        context.restore();
      }
    });
    if (limit !== null && limit <= scale) {
      context.strokeStyle = "#b4574f";
      context.setLineDash([4, 4]);
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(0, Math.round(toY(limit)) + 0.5);
      context.lineTo(width, Math.round(toY(limit)) + 0.5);
      context.stroke();
      context.setLineDash([]);
    }
    if (limit !== null) lane.detail.textContent += ` · limit ${metric.show(limit)}`;
    lane.worst.forEach((worst, bake) => {
      if (!worst) return;
      const [x, y] = [this.toPixel(worst.frame, width), toY(worst.value)];
      context.fillStyle = "#1d2024";
      context.strokeStyle = bake === 0 ? "#f3bd50" : "#6aabff";
      context.lineWidth = 1.6;
      context.beginPath();
      context.arc(Math.max(4, Math.min(width - 4, x)), Math.max(4, y), 3.2, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    });
  }

  // Moves the play head to a frame and shows its figures.
  moveHead(frame) {
    this.shownFrame = frame;
    const width = this.scrub.clientWidth;
    const left = this.scrub.offsetLeft + this.toPixel(frame, width);
    this.head.style.transform = `translateX(${Math.round(left)}px)`;
    for (const lane of this.lanes) {
      const values = this.logs.map((log) => [log.value(lane.metric, frame, this.name), log.limit(lane.metric, this.name)]);
      const texts = values.map(([value]) => (value === undefined ? "–" : lane.metric.show(value)));
      const key = texts.join();
      if (lane.shown === key) continue;
      lane.shown = key;
      lane.value.replaceChildren(...values.map(([value, limit], bake) => {
        const over = value !== undefined && limit !== null && value > limit;
        return element("span", over ? "over" : bake === 1 ? "second" : "", texts[bake]);
      }));
    }
  }
}
