/**
 * Runtimes of other makes and releases, from the package registry into a folder of the system's temporary ones. There
 * is a package for each platform that holds the binary itself; the one called like the runtime fetches it by a script
 * as it is installed, which npm may refuse to run.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const onWindows = process.platform === 'win32';
const EXE = onWindows ? '.exe' : '';

/** How a program is started. */
export interface Runtime {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** The registry's package for this platform, and the path of the binary in it. */
const MAKES = {
  node: () => ({ name: `node-${onWindows ? 'win' : process.platform}-${process.arch}`, binary: `bin/node${EXE}` }),
  bun: () => ({
    name: `@oven/bun-${onWindows ? 'windows' : process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x64'}`,
    binary: `bin/bun${EXE}`,
  }),
  deno: () => ({
    name: `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`,
    binary: `deno${EXE}`,
  }),
};

/** A make of runtime that the registry has. */
export type Make = keyof typeof MAKES;

const ARGS: Readonly<Record<Make, readonly string[]>> = { node: [], bun: [], deno: ['run', '--allow-all'] };

/** A runtime of a make and release; npm finds the newest of a line. */
export async function runtimeOf(make: Make, release: string, folder: string): Promise<Runtime> {
  const { name, binary } = MAKES[make]();
  const prefix = path.join(folder, `${make}-${release}`);
  await mkdir(prefix, { recursive: true });
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  await run('npm', ['install', '--prefix', prefix, `${name}@${release}`, ...flags], { shell: onWindows });
  const command = path.join(prefix, 'node_modules', name, binary);
  await chmod(command, 0o755);
  return named(make, command);
}

/** The runtime that this script runs on. */
export const thisNode = (): Promise<Runtime> => named('node', process.execPath);

async function named(make: Make, command: string): Promise<Runtime> {
  const { stdout } = await run(command, ['--version']);
  const version = stdout.match(/\d+\.\d+\.\d+/)?.[0] ?? stdout.trim();
  return { name: `${make} ${version}`, command, args: ARGS[make] };
}
