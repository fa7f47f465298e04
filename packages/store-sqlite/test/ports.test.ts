import { testContentStore, testFence, testJournal, testStore } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import { watchColumns } from './column-names.js';
import { sqliteSubject } from './fixtures.js';

const columnsAreWatched = await watchColumns();

const options = { name: 'sqlite', runner: { describe, it }, make: sqliteSubject };

testJournal(options);
testContentStore(options);
testStore(options);
testFence(options);

columnsAreWatched();
