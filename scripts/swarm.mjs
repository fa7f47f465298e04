/* `npm run swarm [-- FOLDER …]`: three agents research a folder together, and one of them is not to be trusted. */
import './lib/node-version.mjs';
import { startExample } from './lib/start-example.mjs';

await startExample('swarm');
