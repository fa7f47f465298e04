import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { ROOT } from './root.mjs';

/**
 * Runs a program and waits for it. Its output goes to ours, or, with `quiet`, is returned.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, quiet?: boolean, graceMs?: number }} [options]
 * `graceMs`: how long the program may take to end after a signal, in milliseconds; then it is killed
 * @returns {Promise<{ code: number, output: string, ms: number, stopped: number | undefined }>} `code` is 128 + n when
 * signal n ended it; `stopped` is that code for a signal that we received meanwhile, whatever the program made of it
 */
export function run(program, args, options = {}) {
  const { cwd = ROOT, env = {}, quiet = false, graceMs } = options;
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    });
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    const signals = forwardSignals(child, graceMs);
    child.once('error', (error) => {
      signals.release();
      reject(error);
    });
    child.once('close', (code, signal) => {
      signals.release();
      resolve({
        stopped: signals.received === undefined ? undefined : 128 + os.constants.signals[signals.received],
        code: signal === null ? (code ?? 1) : 128 + os.constants.signals[signal],
        output: Buffer.concat(chunks).toString('utf8'),
        ms: performance.now() - started,
      });
    });
  });
}

/** Runs a script of this Node. */
export function node(args, options) {
  return run(process.execPath, args, options);
}

/** Runs the npm that runs us, or the one on the path. */
export function npm(args, options) {
  const cli = process.env.npm_execpath;
  if (cli !== undefined && path.basename(cli) === 'npm-cli.js') return node([cli, ...args], options);
  return run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, options);
}

/** The arguments that let Node run TypeScript sources of this repository, workspace packages included. */
export function typescriptArgs() {
  return ['--conditions=@reprise/source', '--import', import.meta.resolve('tsx')];
}

/** Environment for {@link typescriptArgs}: the caller's folder may contain a tsconfig.json. */
export function typescriptEnv() {
  return { TSX_TSCONFIG_PATH: `${ROOT}/tsconfig.base.json` };
}

/** Seconds, as people read them. */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/**
 * Hands our signals on to a child and survives them, so that the child decides how to end.
 * Ctrl-C at a terminal already reaches the child, which is in the same process group: it is only survived.
 */
function forwardSignals(child, graceMs) {
  const signals = { received: undefined, release };
  let kill;
  const releases = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const handler = () => {
      signals.received = signal;
      if (graceMs !== undefined) kill ??= setTimeout(() => child.kill('SIGKILL'), graceMs);
      if (signal !== 'SIGINT' || process.stdin.isTTY !== true) child.kill(signal);
    };
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  const orphaned = endWithNpm(() => {
    signals.received = 'SIGTERM';
    child.kill('SIGTERM');
  });
  return signals;

  function release() {
    clearInterval(orphaned);
    clearTimeout(kill);
    for (const off of releases) off();
  }
}

/** A signal to npm alone ends npm and the shell between us, but never reaches us: notice that they are gone. */
function endWithNpm(end) {
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  return setInterval(() => {
    if (process.ppid !== parent) end();
  }, 500).unref();
}
