import { hunt, PLANTED } from './simulator/planted.ts';
for (const bug of PLANTED) {
  if (process.argv[2] && !bug.name.includes(process.argv[2])) continue;
  const t = performance.now();
  const h = await hunt(bug, 1000).catch((e) => String(e).slice(0, 600));
  console.log(bug.name, JSON.stringify(h), bug.told.test((h as any)?.found?.why ?? ''), ((performance.now() - t) / 1000).toFixed(1));
}
