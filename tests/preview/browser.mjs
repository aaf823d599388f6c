// Opens a page of `kiln preview` in a headless Chromium and does with it what a test asks for.
//
// usage: node browser.mjs NODE_MODULES CHROMIUM CASE ARGUMENTS
//
// CASE is one of `cases`, ARGUMENTS its argument as JSON. The last line that is printed is what the case returns, as JSON. Ends with 1
// and says why if anything goes wrong or if the page complains about anything: an error or a warning on its console, a request that
// fails, a message of the viewer itself.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, chromium, name, text] = process.argv.slice(2);
const { default: puppeteer } = await import(pathToFileURL(`${modules}/puppeteer-core/lib/esm/puppeteer/puppeteer-core.js`));

const problems = [];
const requests = [];
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const state = (page) => page.evaluate("kiln.state()");

// Until `test` holds for the page's state.
async function until(page, test, what, seconds = 40) {
  const end = Date.now() + 1000 * seconds;
  for (;;) {
    const now = await state(page);
    if (test(now)) return now;
    if (Date.now() > end) throw new Error(`${what} did not come: ${JSON.stringify({ ...now, frames: now.frames.length })}`);
    await sleep(40);
  }
}

async function open(browser, url, offline = false) {
  const page = await browser.newPage();
  await page.setViewport({ width: 900, height: 640 });
  if (offline) await page.setOfflineMode(true);
  page.on("pageerror", (error) => problems.push(`page error: ${error.message}`));
  page.on("requestfailed", (request) => problems.push(`not loaded: ${request.url()} (${request.failure()?.errorText})`));
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => {
    // Reading pixels back is what a screenshot does.
    if (!/ReadPixels|GPU stall/.test(message.text())) problems.push(`console: ${message.type()}: ${message.text()}`);
  });
  await page.goto(url);
  await page.evaluate("kiln.ready");
  return page;
}

// Goes to a frame and leaves a picture of it and the places in its buffers in a folder.
async function keep(page, folder, name, bakes, kind = "positions") {
  const objects = await page.evaluate((bakes, kind) => {
    const read = (bake, o) => {
      const bytes = new Uint8Array(kiln[kind](bake, o).buffer);
      let letters = "";
      for (let k = 0; k < bytes.length; k += 8192) letters += String.fromCharCode(...bytes.subarray(k, k + 8192));
      return btoa(letters);
    };
    return kiln.state().bakes.slice(0, bakes).map((bake, k) => bake.objects.map((_, o) => read(k, o)));
  }, bakes, kind);
  for (const [bake, list] of objects.entries()) {
    await writeFile(join(folder, `${name}.${bake}.${kind}`), Buffer.concat(list.map((object) => Buffer.from(object, "base64"))));
  }
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

// The way of the camera at the beginning is over.
const calm = (page) => until(page, (now) => now.settled, "rest");

const cases = {
  // Pictures and buffers of some frames.
  async frames(browser, { url, frames, folder, offline }) {
    const page = await open(browser, url, offline);
    await calm(page);
    for (const frame of frames) {
      await page.evaluate((frame) => kiln.setFrame(frame), frame);
      await keep(page, folder, frame, 1);
    }
    const foreign = requests.filter((address) => !address.startsWith(url) && !address.startsWith("data:"));
    return { state: await state(page), camera: await page.evaluate("kiln.camera()"), foreign };
  },

  // The mouse, the keys, and time.
  async plays(browser, { url, seconds }) {
    const page = await open(browser, url);
    await calm(page);
    const frame = () => page.evaluate("kiln.frame()");
    const shows = async (wanted, what) => {
      await until(page, (now) => now.frame === wanted && now.wanted === wanted, `${what}: frame ${wanted}`);
    };
    const { frames } = await state(page);
    const [first, last] = [frames[0], frames[frames.length - 1]];
    await page.keyboard.press("Home");
    await shows(first, "Home");
    await page.keyboard.press("Comma");
    await page.keyboard.press("Space");
    // What is shown until it has begun anew twice; here the processor draws, so that may take a while.
    const seen = await page.evaluate((seconds) => new Promise((done) => {
      const frames = [kiln.frame()];
      let rounds = 0;
      const end = performance.now() + 1000 * seconds;
      const look = () => {
        const before = frames[frames.length - 1];
        if (kiln.frame() !== before) {
          frames.push(kiln.frame());
          if (kiln.frame() < before) rounds += 1;
        }
        if (rounds === 3 || performance.now() > end) done(frames);
        else setTimeout(look, 5);
      };
      look();
    }), seconds);
    const { playing, speed } = await state(page);
    await page.keyboard.press("Space");
    await page.keyboard.press("Period");
    const paused = await state(page);
    await sleep(300);
    const still = (await frame()) === paused.wanted;
    await page.keyboard.press("End");
    await shows(last, "End");
    await page.keyboard.press("ArrowLeft");
    await shows(last - 1, "arrow");
    await page.click("#number");
    await page.keyboard.type(String(first + 3));
    await page.keyboard.press("Enter");
    await shows(first + 3, "a typed number");
    // The middle of the seventh cell of the bar.
    const bar = await (await page.$("#timeline canvas")).boundingBox();
    await page.mouse.click(bar.x + (6.5 / frames.length) * bar.width, bar.y + 0.7 * bar.height);
    await shows(first + 6, "a click on the time line");
    // Scrubbing over the graph below it.
    const lane = await (await page.$(".lane canvas")).boundingBox();
    await page.mouse.move(lane.x + (1.5 / frames.length) * lane.width, lane.y + 8);
    await page.mouse.down();
    await shows(first + 1, "pressing on a graph");
    await page.mouse.move(lane.x + (9.5 / frames.length) * lane.width, lane.y + 12, { steps: 4 });
    await page.mouse.up();
    await shows(first + 9, "dragging over a graph");
    const head = await (await page.$("#head")).boundingBox();
    const away = Math.abs(head.x - (bar.x + (9.5 / frames.length) * bar.width));
    await page.keyboard.press("KeyM");
    const { marks } = await state(page);
    await sleep(100);
    const worst = await frame();
    // The camera.
    const before = await page.evaluate("kiln.camera()");
    const { left, top, width, height } = before;
    const [x, y] = [left + width / 2, top + height / 2];
    const drag = async (button) => {
      await page.mouse.move(x, y);
      await page.mouse.down({ button });
      await page.mouse.move(x + 60, y + 20, { steps: 3 });
      await page.mouse.up({ button });
      return page.evaluate("kiln.camera()");
    };
    const orbited = await drag("left");
    const panned = await drag("right");
    await page.mouse.wheel({ deltaY: -300 });
    await sleep(100);
    const zoomed = await page.evaluate("kiln.camera()");
    await page.keyboard.press("KeyF");
    await calm(page);
    const framed = await page.evaluate("kiln.camera()");
    for (const key of ["KeyW", "KeyS", "KeyL", "Period", "KeyG", "KeyO"]) await page.keyboard.press(key);
    const pressed = await state(page);
    const hides = await page.evaluate(() => {
      document.querySelector(".object").click();
      return kiln.state().hidden;
    });
    await page.keyboard.press("?");
    const help = await page.$eval("#help", (dialog) => dialog.open && dialog.textContent.includes("wireframe"));
    return { seen, playing, speed, still, away, worst, marks, cameras: [before, orbited, panned, zoomed, framed], pressed, hides, help };
  },

  // Colours by stretch and by contact.
  async heat(browser, { url, frame, folder }) {
    const page = await open(browser, url);
    await calm(page);
    await page.evaluate((frame) => kiln.setFrame(frame), frame);
    const legends = [];
    for (const [key, kind] of [["2", "stretch"], ["3", "contact"]]) {
      await page.keyboard.press(key);
      await page.evaluate((kind) => kiln.setColouring(kind), kind);
      legends.push(await page.$eval("#legend", (legend) => legend.textContent));
      await keep(page, folder, kind, 1, kind);
    }
    await page.keyboard.press("4");
    await page.evaluate(() => kiln.setColouring("volume"));
    legends.push(await page.$eval("#legend", (legend) => legend.textContent));
    await page.screenshot({ path: join(folder, "volume.png") });
    return { legends, camera: await page.evaluate("kiln.camera()"), state: await state(page) };
  },

  // Two bakes beside each other, then one over the other.
  async overlay(browser, { url, frame, folder }) {
    const page = await open(browser, url);
    const cameras = [];
    for (const compare of ["side", "overlay"]) {
      await page.evaluate((compare) => kiln.setCompare(compare), compare);
      await calm(page);
      await page.evaluate((frame) => kiln.setFrame(frame), frame);
      await keep(page, folder, compare, 2);
      cameras.push(await page.evaluate("kiln.camera()"));
    }
    await page.keyboard.press("KeyX");
    const { compare, bakes } = await state(page);
    return { cameras, compare, titles: bakes.map(({ title }) => title) };
  },

  // A bake that was halted goes on when its page is there.
  async follows(browser, { url, bake, folder }) {
    const page = await open(browser, url);
    const start = await until(page, (now) => now.settled && now.frame !== null, "a frame");
    const chip = await page.$eval(".chip", (chip) => chip.textContent);
    process.kill(bake, "SIGCONT");
    const grown = await until(page, (now) => now.bakes[0].frames > start.bakes[0].frames, "more frames");
    const done = await until(page, (now) => now.bakes[0].status !== "running" && now.settled && now.atEnd && now.frames.length === now.bakes[0].frames, "the end");
    await keep(page, folder, "last", 1);
    const after = await page.$eval(".chip", (chip) => chip.textContent);
    const count = (now) => ({ status: now.bakes[0].status, frames: now.bakes[0].frames, frame: now.frame });
    return { start: count(start), grown: count(grown), done: count(done), chips: [chip, after] };
  },

  // A frame that the server cannot read, and those beside it. That it complains is expected, so only that is taken from the problems.
  async damaged(browser, { url, beside, damaged }) {
    const page = await open(browser, url);
    const text = () => page.$eval("#trouble", (trouble) => (trouble.hidden ? "" : trouble.textContent));
    for (const frame of beside) {
      await page.evaluate((frame) => kiln.setFrame(frame), frame);
      await until(page, (now) => now.frame === frame, `frame ${frame}`);
    }
    await page.evaluate((frame) => { kiln.setFrame(frame); }, damaged);
    let said = "";
    for (let tries = 0; !said.includes("finite") && tries < 200; tries += 1) {
      await sleep(40);
      said = await text();
    }
    await page.evaluate((frame) => kiln.setFrame(frame), beside[0]);
    await until(page, (now) => now.frame === beside[0], "the frame before it");
    let after = await text();
    for (let tries = 0; after !== "" && tries < 200; tries += 1) {
      await sleep(40);
      after = await text();
    }
    await page.close(); // what the viewer has said is no problem here
    const expected = /status of 500|ERR_CONTENT_LENGTH_MISMATCH|ERR_CONNECTION|ERR_INCOMPLETE|ERR_FAILED/;
    problems.splice(0, problems.length, ...problems.filter((problem) => !expected.test(problem)));
    return { said, after };
  },

  // How long the first picture took, how fast frames are decoded, and what memory that takes (for the benchmark).
  async speed(browser, { url, count, play }) {
    const start = Date.now();
    const page = await open(browser, url);
    const opened = (Date.now() - start) / 1000;
    const first = (await state(page)).firstPictureSeconds;
    await calm(page);
    const decoded = await page.evaluate((count) => kiln.decodeBenchmark(count), count);
    const withStretch = await page.evaluate((count) => kiln.decodeBenchmark(count, true), count);
    await page.keyboard.press("Home");
    await page.keyboard.press("Space");
    const drawnBefore = (await state(page)).drawn;
    await sleep(1000 * play);
    const after = await state(page);
    await page.keyboard.press("Space");
    const { JSHeapUsedSize: heap } = await page.metrics();
    // Typed arrays are no part of the heap: what the process of the page has held at most says it all.
    const { processInfo } = await (await browser.target().createCDPSession()).send("SystemInfo.getProcessInfo");
    const peaks = processInfo.filter(({ type }) => type === "renderer").map(async ({ id }) => {
      const status = await readFile(`/proc/${id}/status`, "utf8");
      return 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)[1]);
    });
    return {
      opened, first, decoded, withStretch, heap, process: Math.max(...(await Promise.all(peaks))), cache: after.cacheBytes,
      limit: after.cacheLimit, drawn: (after.drawn - drawnBefore) / play, requests: after.requests,
    };
  },
};

const profile = await mkdtemp(join(tmpdir(), "kiln-chromium-"));
const browser = await puppeteer.launch({
  executablePath: chromium,
  userDataDir: profile,
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
let result = null;
try {
  result = await cases[name](browser, JSON.parse(text));
  for (const page of await browser.pages()) {
    const { errors } = await page.evaluate("window.kiln?.state() ?? { errors: [] }");
    problems.push(...errors.map((error) => `the viewer says: ${error}`));
  }
} catch (error) {
  problems.push(error.stack);
} finally {
  await browser.close();
  await rm(profile, { recursive: true, force: true });
}
problems.forEach((problem) => console.log(problem));
console.log(JSON.stringify(result));
process.exit(problems.length > 0 ? 1 : 0);
