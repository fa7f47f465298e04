/** The chat as a program: started, killed and started again, as people do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Slow enough that a busy machine still acts in the middle of an answer, of which there are a hundred words and more. */
const WORD_MS = '60';
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** A running server. */
export interface Program {
  readonly url: string;
  readonly port: string;
  /** Ends it; returns how long that took, in milliseconds. */
  end(signal: NodeJS.Signals): Promise<number>;
}

/** Starts the server on a world's file. */
export async function startProgram(world: string, port = '0'): Promise<Program> {
  const program = ['--conditions=@reprise/source', '--import', import.meta.resolve('tsx'), MAIN];
  const child = spawn(process.execPath, [...program, '--port', port, '--world', world, '--word-ms', WORD_MS], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const url = await urlOf(child);
  const end = async (signal: NodeJS.Signals) => {
    const began = performance.now();
    child.kill(signal);
    await ended;
    return performance.now() - began;
  };
  return { url, port: new URL(url).port, end };
}

function urlOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      const found = chunk.toString().match(/http:\/\/[^\s]+/)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error('the server ended')));
  });
}
