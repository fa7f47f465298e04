import { configDefaults, defineConfig } from 'vitest/config';
import { suiteOf } from './scripts/lib/suites.mjs';

/** Tests run against the sources: the private export condition picks `src`, so no build is needed first. */
const conditions = ['@reprise/source', 'module', 'node', 'import', 'default'];

/** `SUITE=quick` is what `npm test` runs, `SUITE=rest` what `npm run test:rest` adds; without it everything runs. */
const suite = suiteOf(process.env.SUITE);

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: suite.include ?? [
      'packages/*/test/**/*.test.ts',
      'examples/*/test/**/*.test.ts',
      'conformance/**/*.test.ts',
      'scripts/test/**/*.test.ts',
    ],
    exclude: [...configDefaults.exclude, ...(suite.exclude ?? [])],
    // Generous: a busy machine is no failure. What must not take long is measured in work, or in ratios.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    pool: 'forks',
  },
});
