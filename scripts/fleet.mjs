/* `npm run fleet`: two processes serve the same worlds in a PostgreSQL, and one of them is killed. */
import './lib/node-version.mjs';
import { startExample } from './lib/start-example.mjs';

await startExample('fleet');
