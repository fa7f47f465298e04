/** The smallest family of a society: a person, her agent, and an active one below it. */
import { agentOf, openOffice } from './office.js';

/** Opens a society in which cells may be made to fail. */
export async function familyOf() {
  const scene = await openOffice({ failing: true, society: { grace: '2d' } });
  const ann = await scene.office.human('ann');
  const boss = scene.office.entity(await agentOf(ann));
  const bot = scene.office.entity(await agentOf(boss));
  await ann.setStatus(bot.id, 'activate');
  return { ...scene, ann, boss, bot };
}
