import { configDefaults, defineConfig } from 'vitest/config';
import { SHARED, suiteOf } from './scripts/lib/suites.mjs';

/** Tests run against the sources: the private export condition picks `src`, so no build is needed first. */
const conditions = ['@reprise/source', 'module', 'node', 'import', 'default'];

/** `SUITE=quick` is what `npm test` runs, `SUITE=rest` what `npm run test:rest` adds; without it everything runs. */
const suite = suiteOf(process.env.SUITE);

const ALL = [
  'packages/*/test/**/*.test.ts',
  'examples/*/test/**/*.test.ts',
  'conformance/**/*.test.ts',
  'scripts/test/**/*.test.ts',
];
const exclude = [...configDefaults.exclude, ...(suite.exclude ?? [])];
const include = suite.include ?? ALL;

/** Files of the first project share a process and its modules; each of the others has a process of its own. */
const projects =
  suite.include === undefined
    ? [
        { name: 'shared', isolate: false, include: SHARED.files, exclude },
        { name: 'apart', include, exclude: [...exclude, ...SHARED.folders] },
      ]
    : [{ name: 'apart', include, exclude }];

/** One more than the cores of a small machine: many tests wait, for programs, for disks, for time to pass. */
const WORKERS = 3;

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    projects: projects.map((project) => ({
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      test: {
        ...project,
        // Generous: a busy machine is no failure. What must not take long is measured in work, or in ratios.
        testTimeout: 180_000,
        hookTimeout: 180_000,
        // What a test waits for comes in moments; a minute is for a machine that stands still meanwhile.
        expect: { poll: { timeout: 60_000, interval: 25 } },
        pool: 'forks',
      },
    })),
  },
});
