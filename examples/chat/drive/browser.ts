/** A browser controlled through its debugging pipe, without a library or a port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

const PROGRAMS = [process.env.CHROMIUM ?? [], 'chromium', 'chromium-browser', 'google-chrome'].flat();
const WAIT_MS = 60_000;

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: { readonly exceptionDetails?: Thrown; readonly entry?: { readonly text: string } };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Thrown {
  readonly text: string;
  readonly exception?: { readonly description?: string };
}

interface Waiting {
  readonly method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * Starts a headless browser; undefined if none is installed. `CHROMIUM` names one.
 *
 * @param options the program's own, such as `--host-resolver-rules=…`
 */
export async function startBrowser(options: readonly string[] = []): Promise<Browser | undefined> {
  const profile = await mkdtemp(path.join(tmpdir(), 'reprise-browser-'));
  for (const program of PROGRAMS) {
    const child = await started(program, [...options, `--user-data-dir=${profile}`]);
    if (child !== undefined) return new Browser(child, profile);
  }
  await rm(profile, { recursive: true, force: true });
  return undefined;
}

function started(program: string, options: readonly string[]): Promise<ChildProcess | undefined> {
  const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-pipe'];
  const child = spawn(program, [...args, '--no-first-run', ...options, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined));
    child.once('spawn', () => resolve(child));
  });
}

/** A browser. */
export class Browser {
  #next = 1;
  readonly #waiting = new Map<number, Waiting>();
  #read = '';
  readonly #pages = new Map<string, Page>();

  constructor(
    private readonly child: ChildProcess,
    private readonly profile: string,
  ) {
    (child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => this.#take(text));
    child.once('close', () => {
      for (const { method, reject } of this.#waiting.values()) reject(new Error(`${method}: the browser ended`));
    });
  }

  /** Opens a tab. */
  async open(url: string, size: Size): Promise<Page> {
    const { targetId } = await this.call<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
    const attached = await this.call<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, targetId, attached.sessionId);
    this.#pages.set(attached.sessionId, page);
    await page.call('Page.enable');
    await page.call('Runtime.enable');
    await page.call('Log.enable');
    await page.resize(size);
    await page.call('Page.navigate', { url });
    return page;
  }

  /** Calls a method of the debugging protocol. */
  call<T>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    const id = this.#next++;
    (this.child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject, method });
    });
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    this.child.kill();
    await ended;
    await rm(this.profile, { recursive: true, force: true, maxRetries: 3 });
  }

  #take(text: string): void {
    const messages = (this.#read + text).split('\0');
    this.#read = messages.pop() ?? '';
    for (const { id, sessionId, method, params, result, error } of messages.map((one) => JSON.parse(one) as Message)) {
      const thrown = method === 'Runtime.exceptionThrown' ? params?.exceptionDetails : undefined;
      const problem = thrown?.exception?.description ?? thrown?.text ?? params?.entry?.text;
      if (problem !== undefined) this.#pages.get(sessionId ?? '')?.problems.push(problem);
      const waiting = this.#waiting.get(id ?? 0);
      this.#waiting.delete(id ?? 0);
      if (error !== undefined) waiting?.reject(new Error(`${waiting.method}: ${error.message}`));
      else waiting?.resolve(result);
    }
  }
}

interface Node {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
}

const CONTROLS = new Set(['button', 'link', 'textbox', 'region', 'article', 'heading']);

const KEYS = {
  Enter: { code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  Tab: { code: 'Tab', windowsVirtualKeyCode: 9 },
} as const;

/** A tab. */
export class Page {
  /** The errors in the page, and what the browser refused. */
  readonly problems: string[] = [];

  constructor(
    private readonly browser: Browser,
    private readonly target: string,
    private readonly session: string,
  ) {}

  /** Calls a method on the page. */
  call<T>(method: string, params: object = {}): Promise<T> {
    return this.browser.call(method, params, this.session);
  }

  async resize({ width, height }: Size): Promise<void> {
    await this.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** Prefers a dark page, or a light one. */
  async prefer(scheme: 'dark' | 'light'): Promise<void> {
    await this.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  }

  /** Brings the tab to the front. */
  async front(): Promise<void> {
    await this.browser.call('Target.activateTarget', { targetId: this.target });
    await this.call('Page.bringToFront');
  }

  /** Closes the tab. */
  async close(): Promise<void> {
    await this.browser.call('Target.closeTarget', { targetId: this.target });
  }

  async reload(): Promise<void> {
    await this.call('Page.reload');
    await this.until('document.readyState === "complete" && document.querySelector("textarea")');
  }

  /** Evaluates an expression in the page. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.call<{ result: { value: T }; exceptionDetails?: Thrown }>(
      'Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true },
    );
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true in the page. */
  async until(expression: string, what = expression): Promise<void> {
    const late = Date.now() + WAIT_MS;
    while (!(await this.evaluate(`Boolean(${expression})`).catch(() => false))) {
      if (Date.now() > late) throw new Error([`never: ${what}`, await this.text(), ...this.problems].join('\n'));
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Waits until the page shows a text, so many times. */
  shows(text: string, times = 1): Promise<void> {
    const found = `document.body.innerText.split(${JSON.stringify(text)}).length - 1`;
    return this.until(`${found} >= ${times}`, `it shows "${text}"`);
  }

  /** Waits until the page does not show a text. */
  hides(text: string): Promise<void> {
    return this.until(`!document.body.innerText.includes(${JSON.stringify(text)})`, `it hides "${text}"`);
  }

  /** The roles of the controls without a name that a screen reader can say. */
  async unnamed(): Promise<readonly string[]> {
    const { nodes } = await this.call<{ nodes: readonly Node[] }>('Accessibility.getFullAXTree');
    const controls = nodes.filter(({ ignored, role }) => !ignored && CONTROLS.has(role?.value ?? ''));
    if (controls.length === 0) throw new Error('no controls were found');
    return controls.filter(({ name }) => !name?.value).map(({ role }) => role?.value ?? '');
  }

  text(): Promise<string> {
    return this.evaluate('document.body.innerText');
  }

  /** Types into the element that has the focus. */
  async type(text: string): Promise<void> {
    await this.call('Input.insertText', { text });
  }

  /** Types a message, and presses Enter. */
  async say(text: string): Promise<void> {
    await this.until('document.querySelector("textarea")');
    await this.evaluate('document.querySelector("textarea").focus()');
    await this.type(text);
    await this.key('Enter');
  }

  /**
   * Pastes a message, and presses Enter. What is typed into a text area takes time by the square of its lines; what is
   * pasted does not.
   */
  async paste(text: string): Promise<void> {
    await this.until('document.querySelector("textarea")');
    await this.evaluate(`(() => {
      const area = document.querySelector('textarea');
      area.focus();
      Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(area, ${JSON.stringify(text)});
      area.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }));
    })()`);
    await this.key('Enter');
  }

  /** Presses a key. */
  async key(key: keyof typeof KEYS, { shift = false } = {}): Promise<void> {
    for (const type of ['keyDown', 'keyUp'])
      await this.call('Input.dispatchKeyEvent', { type, key, modifiers: shift ? 8 : 0, ...KEYS[key] });
  }

  /** Presses the button with a label. */
  async press(name: string): Promise<void> {
    const button = `[...document.querySelectorAll('button')].find((one) => one.textContent === ${JSON.stringify(name)} && !one.disabled)`;
    await this.until(button, `it has a button "${name}"`);
    const { x, y } = await this.evaluate<{ x: number; y: number }>(`(() => {
      ${button}.scrollIntoView({ block: 'nearest' });
      const { left, top, width, height } = ${button}.getBoundingClientRect();
      return { x: left + width / 2, y: top + height / 2 };
    })()`);
    for (const type of ['mousePressed', 'mouseReleased'])
      await this.call('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
  }

  async screenshot(file: string): Promise<void> {
    const { data } = await this.call<{ data: string }>('Page.captureScreenshot', { format: 'png' });
    await writeFile(file, Buffer.from(data, 'base64'));
  }
}
