/** Sessions with real MCP servers, and a model that follows a script. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineAgent, type Toolset } from '@reprise/agent';
import { play, type Scene, type Setting, type Step } from '../../../agent/test/api/scene.js';
import { type McpOptions, mcp, type StdioServer } from '../../src/mcp/index.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const installed = (file: string) => path.join(here, '../../../../node_modules/@modelcontextprotocol', file);

/** The reference servers, as programs. */
export const EVERYTHING = installed('server-everything/dist/index.js');
export const FILESYSTEM = installed('server-filesystem/dist/index.js');

/** A moody server, with its notes. */
export class Moody {
  readonly #notes = path.join(mkdtempSync(path.join(tmpdir(), 'moody-')), 'notes');

  constructor(private readonly protocol: 'new' | 'old' = 'new') {}

  get server(): StdioServer {
    const env = { MOODY_NOTES: this.#notes, ...(this.protocol === 'old' ? { MOODY_OLD: '1' } : {}) };
    return { command: [process.execPath, path.join(here, 'moody-server.mjs')], env };
  }

  /** Makes a toolset of the server. */
  toolset(options: McpOptions = {}): Toolset {
    return mcp('moody', this.server, options);
  }

  /** The server's notes, without its starts. */
  get notes(): readonly string[] {
    return this.#lines.filter((line) => !line.startsWith('started'));
  }

  /** Lets the server's slow calls end. */
  go(): void {
    appendFileSync(this.#notes, 'go\n');
  }

  /** The process ids that the server had. */
  get pids(): readonly number[] {
    return this.#lines.flatMap((line) => (line.startsWith('started') ? [Number(line.slice(8))] : []));
  }

  get #lines(): readonly string[] {
    return existsSync(this.#notes) ? readFileSync(this.#notes, 'utf8').trim().split('\n') : [];
  }
}

/** Whether a process exists. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** An agent with toolsets; its session is named `s`. */
export function agentWith(...toolsets: readonly Toolset[]) {
  return defineAgent({ name: 'actor', model: 'main', instructions: 'Act.', toolsets });
}

/** A step in which the model makes one call. */
export function calls(tool: string, args: object = {}): Step {
  return { calls: [{ id: `k-${tool}`, tool, args: args as never }] };
}

/** The answer that ends a run. */
export const ANSWER: Step = { text: 'Done.' };

/** A scene: a session that received the input "Go". */
export interface Going extends Scene {
  /** The outcome of its run. */
  readonly ended: Promise<unknown>;
  /** Progress that running calls reported. */
  readonly progress: readonly unknown[];
  /** The events of its run. */
  events(): ReturnType<Awaited<ReturnType<ReturnType<Scene['world']['session']>['send']>>['events']>;
}

/** Starts a session with the input "Go", and waits for the end of its run. */
export async function plays(
  toolset: Toolset,
  steps: readonly Step[],
  act: (scene: Going, told: () => string | undefined) => Promise<void>,
  more: Partial<Setting<readonly []>> = {},
): Promise<void> {
  const agent = agentWith(toolset);
  const progress: unknown[] = [];
  const onProgress = (_effect: string, note: unknown) => progress.push(note);
  await play({ ...more, onProgress, agents: [agent], steps } as Setting<readonly [typeof agent]>, async (scene) => {
    const run = await scene.world.session('s', agent).send('Go');
    const told = () => scene.llm.asked.at(-1)?.transcript.findLast((line) => /^(tool|error) /.test(line));
    const ended = run.result();
    ended.catch(() => undefined);
    await act({ ...scene, ended, progress, events: () => run.events() }, told);
    if (more.goesOn !== true) await ended;
  });
}
