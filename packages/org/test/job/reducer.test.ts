/** The laws of reducers, for jobs. */

import { jobReducer } from '@reprise/org';
import { testReducer } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import { officeApp } from './support/office.js';

testReducer({
  name: 'jobs',
  runner: { describe, it },
  make: async () => ({ reducer: jobReducer, app: officeApp(), senders: 'declared' }),
});
