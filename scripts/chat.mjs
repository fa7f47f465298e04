/* `npm run chat`: a chat page, served on this machine. */
import './lib/node-version.mjs';
import { startExample } from './lib/start-example.mjs';

await startExample('chat');
