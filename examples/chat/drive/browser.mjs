/** A browser controlled through its debugging pipe, without a library or a port. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];
const WAIT_MS = 30_000;

/** Starts a headless browser; undefined if none is installed. */
export async function startBrowser() {
  const profile = await mkdtemp(path.join(tmpdir(), 'reprise-browser-'));
  for (const program of [process.env.CHROMIUM ?? PROGRAMS, PROGRAMS].flat()) {
    const child = await started(program, profile);
    if (child !== undefined) return new Browser(child, profile);
  }
  await rm(profile, { recursive: true, force: true });
  return undefined;
}

function started(program, profile) {
  const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-pipe'];
  const child = spawn(program, [...args, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined));
    child.once('spawn', () => resolve(child));
  });
}

/** A browser with one page. */
class Browser {
  #next = 1;
  #waiting = new Map();
  #read = '';
  #page;
  /** The errors in the page. */
  problems = [];

  constructor(child, profile) {
    this.child = child;
    this.profile = profile;
    child.stdio[4].on('data', (chunk) => this.#take(chunk.toString()));
  }

  /** Opens a page with a viewport size. */
  async open(url, { width, height }) {
    const { targetInfos } = await this.#call('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }) => type === 'page');
    ({ sessionId: this.#page } = await this.#call('Target.attachToTarget', { targetId, flatten: true }));
    await this.call('Page.enable');
    await this.call('Runtime.enable');
    await this.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await this.call('Page.navigate', { url });
  }

  /** Calls a method on the page. */
  call(method, params = {}) {
    return this.#call(method, params, this.#page);
  }

  /** Evaluates an expression in the page. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true in the page. */
  async until(expression, what = expression) {
    const late = Date.now() + WAIT_MS;
    while (!(await this.evaluate(`Boolean(${expression})`).catch(() => false))) {
      if (Date.now() > late) throw new Error([`never: ${what}`, await this.text(), ...this.problems].join('\n'));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Waits until the page shows a text. */
  shows(text) {
    return this.until(`document.body.innerText.includes(${JSON.stringify(text)})`, `it shows "${text}"`);
  }

  text() {
    return this.evaluate('document.body.innerText');
  }

  /** Types into the focused element, and presses Enter. */
  async say(text) {
    await this.evaluate('document.querySelector("input").focus()');
    await this.call('Input.insertText', { text });
    for (const type of ['keyDown', 'keyUp']) {
      await this.call('Input.dispatchKeyEvent', {
        type,
        key: 'Enter',
        code: 'Enter',
        windowsVirtualKeyCode: 13,
        text: '\r',
      });
    }
  }

  /** Presses the button with a label. */
  async press(name) {
    const button = `[...document.querySelectorAll('button')].find((one) => one.textContent === ${JSON.stringify(name)})`;
    await this.until(button, `it has a button "${name}"`);
    const { x, y } = await this.evaluate(`(() => {
      const { left, top, width, height } = ${button}.getBoundingClientRect();
      return { x: left + width / 2, y: top + height / 2 };
    })()`);
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.call('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    }
  }

  async screenshot(file) {
    const { data } = await this.call('Page.captureScreenshot', { format: 'png' });
    await writeFile(file, Buffer.from(data, 'base64'));
  }

  async close() {
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    this.child.kill();
    await ended;
    await rm(this.profile, { recursive: true, force: true, maxRetries: 3 });
  }

  #call(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject, method }));
  }

  #take(text) {
    const messages = (this.#read + text).split('\0');
    this.#read = messages.pop() ?? '';
    for (const { id, method, params, result, error } of messages.map((message) => JSON.parse(message))) {
      if (method === 'Runtime.exceptionThrown') this.problems.push(params.exceptionDetails.exception?.description);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error !== undefined) waiting?.reject(new Error(`${waiting.method}: ${error.message}`));
      else waiting?.resolve(result);
    }
  }
}
