import { testViewStore } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import { memoryViews } from '../../../src/serve/views/index.js';

testViewStore({ name: 'memory', runner: { describe, it }, make: async () => ({ store: memoryViews() }) });
