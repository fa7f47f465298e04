import { testDirectory } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import { memoryDirectory } from '../../../src/serve/host/index.js';

testDirectory({ name: 'memory', runner: { describe, it }, make: async () => ({ directory: memoryDirectory() }) });
