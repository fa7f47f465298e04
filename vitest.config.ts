import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { shareIn } from './conformance/shares.mjs';
import { suiteOf } from './scripts/lib/suites.mjs';

/** Tests run against the sources: the private export condition picks `src`, so no build is needed first. */
const conditions = ['@reprise/source', 'module', 'node'];

const ALL = [
  'packages/*/test/**/*.test.ts',
  'examples/*/test/**/*.test.ts',
  'conformance/**/*.test.ts',
  'scripts/test/**/*.test.ts',
];

/** `SUITE=quick` is what `npm test` runs, `SUITE=rest` what `npm run test:rest` adds; without it everything runs. */
const { shared, apart } = suiteOf(process.env.SUITE, ALL, shareIn(process.env));

/** Files of the first project share processes and their modules; each file of the other has a process of its own. */
const projects = [
  { name: 'shared', isolate: false, setupFiles: ['scripts/lib/leaves-nothing.ts'], ...shared },
  { name: 'apart', isolate: true, ...apart },
];

/** `npm run test:nightly` draws other random values than `npm test`: `fast-check` is a module that mixes its seed in. */
const nightly = fileURLToPath(new URL('scripts/lib/nightly-fast-check.ts', import.meta.url));
const seeds = {
  name: 'seeds-of-the-night',
  enforce: 'pre' as const,
  resolveId: (name: string, importer?: string) => (name === 'fast-check' && importer !== nightly ? nightly : undefined),
};

/** Two more than the cores of a small machine: many tests wait, for programs, for disks, for time to pass. */
const WORKERS = 4;

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    projects: projects.map((project) => ({
      plugins: process.env.REPRISE_NIGHT === undefined ? [] : [seeds],
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      test: {
        ...project,
        exclude: [...configDefaults.exclude, ...project.exclude],
        // Generous: a busy machine is no failure. What must not take long is measured in work, or in ratios.
        // Ten minutes, since a test that takes 22 s alone has taken more than three minutes on a machine of CI.
        testTimeout: 600_000,
        hookTimeout: 600_000,
        // What a test waits for comes in moments; a minute is for a machine that stands still meanwhile.
        expect: { poll: { timeout: 60_000, interval: 25 } },
        pool: 'forks',
      },
    })),
  },
});
