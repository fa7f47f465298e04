import { testContentStore, testFence, testJournal, testStore, type Waiver } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import { memory } from '../../../src/ports/store/memory-store.js';

const make = async () => ({ store: memory() });
const runner = { describe, it };

const noDamage: Waiver = {
  reason: 'nobody outside can reach the bytes, so nothing can damage them',
  tests: [
    'given stored bytes that are damaged, get refuses them',
    'given stored bytes that are damaged, putting the right ones again heals them',
  ],
};
const noCrash: Waiver = {
  reason: 'it ends with its process, so a crash leaves nothing',
  tests: ['given a crash, what was acknowledged is there and the opening says it was unclean'],
};

testJournal({ name: 'memory', runner, make });
testContentStore({ name: 'memory', runner, make, skip: [noDamage] });
testStore({ name: 'memory', runner, make, skip: [noCrash] });
testFence({ name: 'memory', runner, make });
