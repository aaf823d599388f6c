// Where scene, meshes, frames and logs come from: the server of `kiln preview`, or the page itself once it was exported.

// What the viewer keeps of the frames it has seen. A shot of 200 frames with 100 000 vertices is 240 MB: it stays in memory
// as a whole, two bakes fit side by side in part, and a tab of a browser, which may hold one to four GB, stays far from its end.
const CACHE_BYTES = 256 * 1024 * 1024;
// A request takes a few frames at once: small enough to be there soon, large enough not to be all overhead.
const REQUEST_BYTES = 2 * 1024 * 1024;
const REQUEST_FRAMES = 16;
const REQUESTS_AT_ONCE = 2;
// So much is fetched ahead when nothing plays; contact is worked out on demand, so little of it is asked for in vain.
const AHEAD_WHILE_PAUSED = 12;
const CONTACT_AHEAD = 6;
const RETRY_MILLISECONDS = 1000;

// What went wrong, in words for the page.
class Trouble extends Error {}
// What is wrong with what was asked for, not with the way to it.
class Damage extends Trouble {}

const frameBytes = (about, kind) => (kind === "contact" ? about.vertex_count : about.bytes_per_frame);

// Asks the server.
class Server {
  async fetch(path, options, what) {
    let response;
    try {
      response = await fetch(path, { cache: "no-store", ...options });
    } catch {
      throw new Trouble("The preview server does not answer. Is `kiln preview` still running?");
    }
    if (response.status === 500) {
      const cause = await response.text().catch(() => "the server cannot read it");
      throw new Damage(`${what} could not be read: ${cause}`);
    }
    if (!response.ok) throw new Trouble(`${what} could not be read: the server answers ${response.status} ${response.statusText}.`);
    return response;
  }

  async scene() {
    const response = await this.fetch("scene.json", {}, "The scene");
    try {
      return await response.json();
    } catch {
      throw new Trouble("The scene that the server sent is not whole.");
    }
  }

  async meshes(bake) {
    return (await this.fetch(`bake/${bake}/meshes.bin`, {}, "The meshes")).arrayBuffer();
  }

  // Empty where there is none: glTF files have no log, and the server says 404, which browsers report as an error.
  async log(bake, about) {
    if (about.status === null) return "";
    return (await this.fetch(`bake/${bake}/frames.jsonl`, {}, "The log of the bake")).text();
  }

  async status(bake) {
    return (await this.fetch(`bake/${bake}/status.json`, {}, "The state of the bake")).json();
  }

  async range(bake, kind, first, end) {
    const options = { headers: { Range: `bytes=${first}-${end - 1}` } };
    const what = kind === "contact" ? "Contact" : "A frame";
    const response = await this.fetch(`bake/${bake}/${kind}.bin`, options, what);
    if (response.status !== 206) throw new Trouble("The server sends whole files instead of single frames.");
    try {
      return await response.arrayBuffer();
    } catch {
      throw new Damage(`${what} broke off on its way.`);
    }
  }
}

// Frames that were fetched, a few at a time, with a bound on what is kept.
class FrameCache {
  constructor(server, bakes) {
    this.server = server;
    this.bakes = bakes;
    this.chunks = new Map();
    this.running = new Set();
    this.alone = new Set(); // chunks with a damaged frame: the others are asked for one by one
    this.damaged = new Map(); // of a frame that cannot be read why, and when it is tried again
    this.bytes = 0;
    this.limit = CACHE_BYTES;
    this.requests = 0;
    this.retryAt = 0;
    // What is wanted, the most urgent first: [bake, kind, index].
    this.wanted = [];
    // How far a frame is from what is shown, in steps of the play head; set by the viewer.
    this.distance = () => 0;
    this.onArrival = () => {};
    this.onTrouble = () => {};
  }

  perRequest(bake, kind) {
    const bytes = frameBytes(this.bakes[bake], kind);
    return Math.max(1, Math.min(REQUEST_FRAMES, Math.floor(REQUEST_BYTES / Math.max(1, bytes))));
  }

  key(bake, kind, index) {
    const chunk = `${bake} ${kind} ${Math.floor(index / this.perRequest(bake, kind))}`;
    return this.alone.has(chunk) ? `${chunk}.${index}` : chunk;
  }

  // The bytes of a frame, if they are here.
  frame(bake, kind, index) {
    const chunk = this.chunks.get(this.key(bake, kind, index));
    return chunk?.frames[index - chunk.first] ?? null;
  }

  // Replaces the list of what is wanted.
  want(wanted) {
    this.wanted = wanted;
    if (this.damaged.size > 0) this.tellDamage();
    this.pump();
  }

  // Says what is wrong with the frame that is to be shown, if anything is.
  tellDamage() {
    const isNow = ([bake, , index]) => this.distance(bake, index, index) === 0;
    const keys = this.wanted.filter(isNow).map((wanted) => this.key(...wanted));
    const key = keys.find((wanted) => this.damaged.has(wanted));
    this.onTrouble(key === undefined ? null : this.damaged.get(key).error);
  }

  pump() {
    if (performance.now() < this.retryAt) return;
    for (const [bake, kind, index] of this.wanted) {
      if (this.running.size >= REQUESTS_AT_ONCE) return;
      if (index >= this.bakes[bake].frames.length || this.frame(bake, kind, index)) continue;
      const key = this.key(bake, kind, index);
      if (this.damaged.get(key)?.until > performance.now()) continue;
      if (!this.running.has(key)) this.request(key, bake, kind, index);
    }
  }

  async request(key, bake, kind, index) {
    this.running.add(key);
    this.requests += 1;
    const about = this.bakes[bake];
    const generation = about.generation;
    const size = frameBytes(about, kind);
    const many = key.includes(".") ? 1 : this.perRequest(bake, kind);
    const first = many * Math.floor(index / many);
    const end = Math.min(first + many, about.frames.length);
    try {
      const buffer = await this.server.range(bake, kind, first * size, end * size);
      if (generation !== about.generation) return;
      const count = Math.floor(buffer.byteLength / size);
      if (first + count <= index) {
        throw new Trouble(`Frame ${about.frames[index]} of "${about.title}" is not in the file yet, or the file was cut off.`);
      }
      const frames = [];
      for (let k = 0; k < count; k += 1) frames.push(new Uint8Array(buffer, k * size, size));
      this.drop(key);
      this.chunks.set(key, { bake, kind, first, frames, bytes: buffer.byteLength });
      this.bytes += buffer.byteLength;
      this.makeRoom(key);
      this.damaged.delete(key);
      this.tellDamage();
    } catch (error) {
      const until = performance.now() + RETRY_MILLISECONDS;
      if (!(error instanceof Damage)) {
        this.retryAt = until;
        this.onTrouble(error);
      } else if (generation === about.generation && end - first > 1) {
        this.drop(key);
        this.alone.add(key);
      } else if (generation === about.generation) {
        this.damaged.set(key, { bake, error, until });
        this.tellDamage();
      }
      setTimeout(() => this.pump(), RETRY_MILLISECONDS + 10);
    } finally {
      this.running.delete(key);
    }
    this.onArrival();
    this.pump();
  }

  drop(key) {
    const chunk = this.chunks.get(key);
    if (!chunk) return;
    this.bytes -= chunk.bytes;
    this.chunks.delete(key);
  }

  // Forgets a bake whose frames are no longer what they were.
  forget(bake) {
    for (const [key, chunk] of this.chunks) if (chunk.bake === bake) this.drop(key);
    for (const [key, damage] of this.damaged) if (damage.bake === bake) this.damaged.delete(key);
    for (const key of this.alone) if (key.startsWith(`${bake} `)) this.alone.delete(key);
  }

  // Lets go of what will be shown last.
  makeRoom(newest) {
    while (this.bytes > this.limit) {
      let farthest = null;
      let most = -1;
      for (const [key, chunk] of this.chunks) {
        if (key === newest) continue;
        const distance = this.distance(chunk.bake, chunk.first, chunk.first + chunk.frames.length - 1);
        if (distance > most) [farthest, most] = [key, distance];
      }
      if (farthest === null) return;
      this.drop(farthest);
    }
  }
}

// What an exported page holds: base64 of gzip in script elements, unpacked once and kept as a whole.
class Embedded {
  constructor() {
    this.bytes = 0;
    this.limit = Infinity;
    this.requests = 0;
    this.distance = () => 0;
    this.onArrival = () => {};
    this.onTrouble = () => {};
    this.bakes = [];
    this.unpacked = new Map();
  }

  async scene() {
    try {
      return JSON.parse(document.getElementById("kiln-scene").textContent);
    } catch {
      throw new Trouble("The scene in this page is not whole. Was the file cut off on its way?");
    }
  }

  has(bake, name) {
    return this.unpacked.has(`${bake} ${name}`) || document.getElementById(`kiln-${bake}-${name}`) !== null;
  }

  async unpack(bake, name, expected) {
    const element = document.getElementById(`kiln-${bake}-${name}`);
    if (!element) throw new Trouble(`This page has no ${name} of bake ${bake + 1}.`);
    if (typeof DecompressionStream === "undefined") {
      throw new Trouble("This browser is too old to unpack the page (it lacks DecompressionStream). Any browser since 2023 has it.");
    }
    const text = element.textContent.trim();
    element.remove(); // the text is not needed twice
    const PIECE = 1 << 20; // a multiple of four: base64 can be cut there
    let at = 0;
    const packed = new ReadableStream({
      pull(controller) {
        if (at >= text.length) return controller.close();
        const letters = atob(text.slice(at, at + PIECE));
        at += PIECE;
        const bytes = new Uint8Array(letters.length);
        for (let k = 0; k < bytes.length; k += 1) bytes[k] = letters.charCodeAt(k);
        return controller.enqueue(bytes);
      },
    });
    const kept = { bytes: new Uint8Array(expected ?? 1 << 16), filled: 0 };
    this.unpacked.set(`${bake} ${name}`, kept);
    const reader = packed.pipeThrough(new DecompressionStream("gzip")).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        if (kept.filled + value.length > kept.bytes.length) {
          if (expected !== undefined) throw new Error("too long");
          const larger = new Uint8Array(2 * (kept.filled + value.length));
          larger.set(kept.bytes);
          kept.bytes = larger;
        }
        kept.bytes.set(value, kept.filled);
        kept.filled += value.length;
        this.bytes += value.length;
        if (name === "frames") this.addUp(kept, this.bakes[bake].bytes_per_frame);
        this.onArrival();
      }
    } catch {
      throw new Trouble(`The ${name} in this page cannot be unpacked. Was the file cut off on its way?`);
    }
    if (expected !== undefined && kept.filled !== expected) {
      throw new Trouble(`The ${name} in this page are not whole: ${kept.filled} of ${expected} bytes.`);
    }
    return kept;
  }

  // Frames are written as differences to the one before, in 16 bits that go round.
  addUp(kept, size) {
    const words = new Uint16Array(kept.bytes.buffer);
    const perFrame = size / 2;
    for (kept.whole ??= 0; kept.whole + size <= kept.filled; kept.whole += size) {
      const start = kept.whole / 2;
      for (let k = start; start > 0 && k < start + perFrame; k += 1) words[k] += words[k - perFrame];
    }
  }

  async meshes(bake) {
    const { bytes, filled } = await this.unpack(bake, "meshes");
    return bytes.buffer.slice(0, filled);
  }

  async log(bake) {
    if (!this.has(bake, "log")) return "";
    const { bytes, filled } = await this.unpack(bake, "log");
    return new TextDecoder().decode(bytes.subarray(0, filled));
  }

  frame(bake, kind, index) {
    const size = frameBytes(this.bakes[bake], kind);
    const kept = this.unpacked.get(`${bake} ${kind}`);
    return kept && (kept.whole ?? kept.filled) >= (index + 1) * size ? kept.bytes.subarray(index * size, (index + 1) * size) : null;
  }

  want(wanted) {
    for (const [bake, kind] of wanted) {
      if (this.unpacked.has(`${bake} ${kind}`) || !this.has(bake, kind)) continue;
      const about = this.bakes[bake];
      this.unpack(bake, kind, about.frames.length * frameBytes(about, kind)).catch((error) => this.onTrouble(error));
    }
  }

  pump() {}
}
