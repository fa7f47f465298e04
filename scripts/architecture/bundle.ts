import { build } from 'esbuild';
import { KERNEL_BUNDLE_MAX, NOT_IN_KERNEL_BUNDLE } from './rules.js';
import type { Problem } from './tree.js';

/** A package as a browser would load it: its size, and its files with the size of each. */
export interface Bundle {
  readonly entry: string;
  readonly bytes: number;
  readonly parts: ReadonlyMap<string, number>;
}

/** Bundles an entry for no host in particular; modules of Node stay outside and are listed with no weight. */
export async function bundle(root: string, entry: string): Promise<Bundle> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['module', 'main'],
    conditions: ['@reprise/source'],
    external: ['node:*'],
    logLevel: 'silent',
  });
  const [output] = Object.values(result.metafile.outputs);
  const parts = new Map(Object.entries(output?.inputs ?? {}).map(([file, { bytesInOutput }]) => [file, bytesInOutput]));
  for (const { path, external } of output?.imports ?? []) if (external === true) parts.set(path, 0);
  return { entry, bytes: output?.bytes ?? 0, parts };
}

/** The kernel stays small, and free of code that it does not need. */
export function checkKernelBundle({ entry, bytes, parts }: Bundle, ceiling = KERNEL_BUNDLE_MAX): readonly Problem[] {
  const problems: Problem[] = [];
  if (bytes > ceiling) {
    problems.push({ file: entry, line: 1, what: `the bundle has ${bytes} bytes, more than ${ceiling}` });
  }
  for (const part of parts.keys()) {
    for (const { pattern, why } of NOT_IN_KERNEL_BUNDLE) {
      if (pattern.test(part)) problems.push({ file: entry, line: 1, what: `the bundle contains ${part}: ${why}` });
    }
  }
  return problems;
}

/** The sizes in a bundle, the largest sources first, as a table for people. */
export function describeBundle({ entry, bytes, parts }: Bundle, ceiling = KERNEL_BUNDLE_MAX): string {
  const groups = new Map<string, number>();
  for (const [file, weight] of parts) {
    const group = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? file.split('/').slice(0, 2).join('/');
    groups.set(group, (groups.get(group) ?? 0) + weight);
  }
  const rows = [...groups].sort(([, a], [, b]) => b - a).map(([group, weight]) => `  ${weight} ${group}`);
  return [`${entry}: ${bytes} bytes minified, ceiling ${ceiling}`, ...rows].join('\n');
}
