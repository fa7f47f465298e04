/**
 * Runs before each test file that shares its process with others, and compares afterwards: a file that leaves something
 * behind fails itself, and not one of those that come after it.
 */
import { afterAll } from 'vitest';
import { leftBehind, sceneNow } from './process-scene.js';

const before = sceneNow();

afterAll(() => {
  const left = leftBehind(before, sceneNow());
  if (left.length > 0)
    throw new Error(
      `this test file leaves behind in its process: ${left.join(', ')}. ` +
        'Undo it in `afterAll`, or list the file in APART of scripts/lib/suites.mjs',
    );
});
