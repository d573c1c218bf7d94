// Opens pages of reports in Chromium and looks at them as a reader would. Its first word is Chromium, then a folder for
// the browser's profile, then PAGE=EXPECTED... (see `checks`). Prints what it measures; exit status 1 where anything fails.
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";

const [, , executablePath, profile, ...pages] = process.argv;
const shots = process.env.STEPCAST_SCREENSHOTS;
const failures = [];
const check = (holds, what) => {
  if (!holds) failures.push(what);
};

const context = await chromium.launchPersistentContext(profile, {
  executablePath,
  headless: true,
  viewport: { width: 1280, height: 900 },
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function open(file) {
  const page = await context.newPage();
  const url = pathToFileURL(file).href;
  const told = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && told.push(message.text()));
  page.on("pageerror", (error) => told.push(String(error)));
  page.on("dialog", (dialog) => (told.push("a dialog opened"), dialog.dismiss()));
  page.on("request", (request) => request.url() !== url && told.push(`asked for ${request.url()}`));
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  return { page, told };
}

// Scrolls through the page so that every chart is drawn, and sees that each has something on its canvas.
async function everyChartDraws(page, name) {
  for (const chart of await page.$$(".chart")) {
    await chart.scrollIntoViewIfNeeded();
    await page.waitForFunction((element) => element.dataset.drawn === "1", chart);
  }
  const empty = await page.$$eval(".chart", (all) => all.filter((box) => {
    const canvas = box.querySelector("canvas");
    const pixels = canvas?.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    const seen = new Set();
    for (let i = 0; i < pixels.length && seen.size < 3; i += 4) if (pixels[i + 3] > 0) seen.add(pixels[i] * 65536 + pixels[i + 1] * 256 + pixels[i + 2]);
    return seen.size < 3;
  }).map((box) => box.getAttribute("aria-label")));
  check(empty.length === 0, `${name}: charts that draw nothing: ${empty.join(", ")}`);
}

async function timelineWorks(page, name) {
  const canvas = await page.waitForSelector("canvas.timeline[data-drawn]");
  await canvas.scrollIntoViewIfNeeded();
  const state = () => canvas.evaluate((c) => ({ ...c.dataset }));
  const frame = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const whole = await state();
  const box = await canvas.boundingBox();
  await canvas.focus();
  await page.keyboard.press("+");
  await frame();
  const closer = await state();
  check(closer.view !== whole.view, `${name}: the plus key does not zoom`);
  await page.keyboard.press("ArrowRight");
  await frame();
  check((await state()).view !== closer.view, `${name}: the arrow key does not move`);
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -600);
  await page.keyboard.up("Control");
  await frame();
  const wheeled = (await state()).view;
  check(wheeled !== closer.view, `${name}: the wheel does not zoom`);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 150, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await frame();
  check((await state()).view !== wheeled, `${name}: the mouse does not move it`);
  await page.keyboard.press("0");
  await frame();
  let told = "";
  for (let x = 110; x < box.width - 10 && told === ""; x += 37) {
    await page.mouse.move(box.x + x, box.y + 26 + 8);
    told = await page.$eval(".hover", (hover) => (hover.hidden ? "" : hover.textContent));
  }
  check(told.includes("stage"), `${name}: no hover tells of a stretch`);
  await page.keyboard.press(".");
  check((await page.$eval(".told", (line) => line.textContent)).includes("stage"), `${name}: the period key chooses no stretch`);
  await page.keyboard.press("Escape");
}

// Pans and counts what each frame draws: no more than its pixels allow, however many stretches there are.
async function panning(page, name) {
  for (const button of await page.$$(".tools button")) if ((await button.textContent()).includes("communication")) await button.click();
  const { frames, drawn, own, stretches } = await page.evaluate(async () => {
    const canvas = document.querySelector("canvas.timeline");
    const next = () => new Promise((done) => requestAnimationFrame(done));
    const key = (k) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: k }));
    const frames = [], drawn = [], own = [];
    for (const zooms of [1, 3, 6]) {
      key("0");
      for (let i = 0; i < zooms; ++i) key("+");
      await next();
      for (let i = 0; i < 20; ++i) {
        key(i < 10 ? "ArrowRight" : "ArrowLeft");
        const began = performance.now();
        await next();
        await new Promise((done) => setTimeout(done));
        frames.push(performance.now() - began);
        drawn.push(Number(canvas.dataset.drawn));
        own.push(Number(canvas.dataset.frame));
      }
    }
    return { frames, drawn, own, stretches: Number(canvas.dataset.stretches) };
  });
  for (const list of [frames, own]) list.sort((a, b) => a - b);
  const box = await page.$eval("canvas.timeline", (c) => ({ width: c.clientWidth, height: c.clientHeight }));
  const bound = Math.ceil((box.width / 2) * (box.height / 9) * 1.05);
  console.log(`${name}: ${stretches} stretches; a frame draws at most ${Math.max(...drawn)} of them (bound ${bound}); median frame ${frames[frames.length >> 1].toFixed(1)} ms, slowest ${frames.at(-1).toFixed(1)} ms; of it this page's own ${own[own.length >> 1].toFixed(1)} and ${own.at(-1).toFixed(1)} ms`);
  check(Math.max(...drawn) > 0 && Math.max(...drawn) <= bound, `${name}: a frame draws ${Math.max(...drawn)} stretches, expected 1 to ${bound}`);
}

async function linksWork(page, name) {
  const link = await page.$(".picture .link path:last-of-type");
  check(link !== null, `${name}: no link is drawn`);
  await page.$eval(".picture .link", (g) => g.dispatchEvent(new MouseEvent("click")));
  check((await page.$eval(".side", (side) => side.textContent)).includes("→"), `${name}: a click on a link says nothing`);
}

const checks = {
  legend: legendsWrap,
  run: async (page, name) => { check((await page.$eval(".cards", (cards) => cards.textContent)).includes("error of the forecast"), `${name}: says nothing of the measured step`); await timelineWorks(page, name); await linksWork(page, name); await panning(page, name); },
  many: async (page, name) => {
    await timelineWorks(page, name);
    await panning(page, name);
    check((await page.$eval("canvas.timeline", (c) => Number(c.dataset.stretches))) >= 100_000, `${name}: fewer than 100,000 stretches`);
  },
  hostile: async (page, name) => {
    check(await page.evaluate(() => globalThis.scripted === undefined), `${name}: a name ran as a script`);
    check((await page.$$("img, iframe, script:not([type])")).length === 0, `${name}: a name became an element`);
    check((await page.$eval("h1", (title) => title.textContent)).includes("</script>"), `${name}: the name is not shown as it is`);
    check(await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "globalThis.scripted = 1";
      document.body.append(script);
      return globalThis.scripted === undefined;
    }), `${name}: the policy lets a script in`);
  },
  // The parts add up, both timelines move as one, and each side has a page of its own.
  diff: async (page, name) => {
    await partsAddUp(page, name);
    await timelinesMoveAsOne(page, name);
    check((await page.$$("tr.differs")).length === 1, `${name}: expected one key of the plan to differ`);
    const tabs = await page.$$(".tabs button");
    check(tabs.length === 3, `${name}: expected a tab for the comparison and for each side`);
    await tabs[1].click();
    await timelineWorks(page, name);
    await tabs[0].click();
    await everyChartDraws(page, name);
  },
  measured: async (page, name) => {
    await partsAddUp(page, name);
    const told = await page.$eval(".body", (body) => body.textContent);
    for (const word of ["predicted", "measured", "Trace B", "Kernels of no known class"]) check(told.includes(word), `${name}: does not say "${word}"`);
    await timelinesMoveAsOne(page, name);
    await recordedTellsKernels(page, name);
  },
  chart: async () => {},
};

async function timelinesMoveAsOne(page, name) {
  const views = () => page.$$eval("canvas.timeline", (all) => all.map((canvas) => canvas.dataset.view));
  check((await views()).length === 2, `${name}: expected two timelines`);
  await (await page.$("canvas.timeline")).focus();
  await page.keyboard.press("+");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const [a, b] = await views();
  check(a === b && !a.startsWith("0 "), `${name}: the timelines show ${a} and ${b}, expected a part of the step that is the same`);
  await page.keyboard.press("0");
}

// The recorded one is of a whole GPU, and of each of its streams where they are asked for, whose kernels have names.
async function recordedTellsKernels(page, name) {
  const box = (await page.$$(".timeline-box"))[1];
  await (await box.$("canvas")).focus();
  await page.keyboard.press(".");
  const whole = await box.$eval(".told", (line) => line.textContent);
  check(whole.includes("GPU 0, whatever stream"), `${name}: the recorded timeline tells "${whole}"`);
  await page.keyboard.press("Escape");
  for (const button of await box.$$(".tools button")) if ((await button.textContent()) === "Show each stream") await button.click();
  await (await box.$("canvas")).focus();
  await page.keyboard.press(".");
  await page.keyboard.press("ArrowDown");
  const kernel = await box.$eval(".told", (line) => line.textContent);
  check(kernel.includes("stream 7") && /kernel|cudnn|Memcpy/.test(kernel), `${name}: a stream of the recorded timeline tells "${kernel}"`);
  await page.keyboard.press("Escape");
}

async function partsAddUp(page, name) {
  check((await page.$eval(".body", (body) => body.textContent)).includes("which is the difference of the steps"), `${name}: the parts do not add up`);
}


for (const each of pages) {
  const [file, kind] = each.split("=");
  const name = file.split("/").pop();
  try {
    const { page, told } = await open(file);
    await everyChartDraws(page, name);
    const wrong = await page.$$eval(".wrong[role=alert]", (all) => all.map((a) => a.textContent).filter((t) => t.includes("cannot be drawn")));
    check(wrong.length === 0, `${name}: ${wrong.join("; ")}`);
    await checks[kind](page, name);
    if (kind !== "hostile") check(told.length === 0, `${name}: ${told.join("; ")}`);
    else check(told.every((line) => line.includes("Content Security Policy")), `${name}: ${told.join("; ")}`);
    if (shots) await screenshots(page, name);
    await page.close();
  } catch (error) {
    failures.push(`${name}: ${error}`);
  }
}
await context.close();

// On a narrow page a legend of many names takes several lines, and the chart grows by them.
async function legendsWrap(page, name) {
  const first = () => page.$eval(".chart[data-legend-lines]", (box) => [Number(box.dataset.legendLines), box.clientHeight]);
  const wide = await first();
  await page.setViewportSize({ width: 480, height: 900 });
  await page.waitForFunction((lines) => Number(document.querySelector(".chart[data-legend-lines]").dataset.legendLines) > lines, wide[0]);
  const narrow = await first();
  check(narrow[1] - wide[1] === 20 * (narrow[0] - wide[0]), `${name}: the legend takes ${narrow} and ${wide} lines and pixels`);
}

async function screenshots(page, name) {
  for (const [width, height] of [[1280, 900], [480, 900]])
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await everyChartDraws(page, name);
      await page.evaluate(() => scrollTo(0, 0));
      await page.screenshot({ path: `${shots}/${name.replace(".html", "")}-${width}-${colorScheme}.png`, fullPage: true });
    }
}

for (const failure of failures) console.error(`failed: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
