/* `npm start [-- FOLDER …]`: runs the sample world. */
import './lib/node-version.mjs';
import { startExample } from './lib/start-example.mjs';

await startExample('headless-world');
