import { openWorld } from 'reprise';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import { dev, grove, leader, members, office, options } from './office.js';

await using world = await openWorld({ store: sqlite('office.db'), ...options });
await world.part(office).open();
const ann = await world.part(members).human('ann');
const capabilities = { tools: ['delegate'], ttl_seconds: 3600 };
const bot = await ann.register({ agentType: 'custom', displayName: 'Leader', capabilities }, { id: 'leader' });
const agent = world.part(members).entity(bot.agent_id);

const run = await agent.send(leader, 'What is in this repository?', { id: 'question-1' });
print(await run.text());
print((await world.part(dev).project('job-1').idle({ within: '10m' })).status);
for (const { name, status } of (await world.part(grove).all()).items) print(name, status);
print((await world.verify()).unverified);
