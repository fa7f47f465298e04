/**
 * Programs of others from the package registry, in a folder of their own, once. No script of a package runs at its
 * installation: many machines forbid that, so the newer Node is the package of this platform, which the package `node`
 * would only fetch by a script.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const { platform, arch } = process;
const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node';

/** A Node that is newer than the one of this project. */
export const NEWER_NODE = `${prefix}-${platform === 'win32' ? 'win' : platform}-${arch}@22.23.3`;

/** Installs packages unless they are there. @returns the path of one of their programs */
export function installed(home: string, packages: readonly string[]): (program: string) => string {
  const folder = (name: string): string => path.join(home, 'node_modules', name.slice(0, name.lastIndexOf('@')));
  if (!packages.every((name) => existsSync(path.join(folder(name), 'package.json')))) {
    mkdirSync(home, { recursive: true });
    writeFileSync(path.join(home, 'package.json'), '{ "private": true }');
    const quiet = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', ['install', ...quiet, ...packages], { cwd: home, stdio: 'inherit' });
  }
  return (program) => path.join(home, 'node_modules/.bin', program);
}
