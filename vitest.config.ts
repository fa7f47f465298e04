import { defineConfig } from 'vitest/config';

/** Tests run against the sources: the private export condition picks `src`, so no build is needed first. */
const conditions = ['@reprise/source', 'module', 'node', 'import', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'examples/*/test/**/*.test.ts',
      'conformance/**/*.test.ts',
      'scripts/test/**/*.test.ts',
    ],
    testTimeout: 60_000,
    maxWorkers: 2,
    pool: 'forks',
  },
});
