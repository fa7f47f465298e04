/** A shop's order as workflows: one as it was recorded, and mutants that do one thing otherwise. */
import { proxyActivities, proxySinks, sleep } from '@temporalio/workflow';

const { charge, mail, refund } = proxyActivities({ startToCloseTimeout: 60_000 });
const slower = proxyActivities({ startToCloseTimeout: 70_000 });
const { probe } = proxySinks();
const bill = { cents: 800, order: 'a' };
const letter = { to: 'desk', text: 'order a: 800' };

/** As it was recorded. */
export async function sound() {
  const { id } = await charge(bill);
  await sleep(60_000);
  await mail(letter);
  return { ok: true, id };
}

export async function effectParameters() {
  const { id } = await charge({ ...bill, cents: 801 });
  await sleep(60_000);
  await mail(letter);
  return { ok: true, id };
}

export async function effectsInAnotherOrder() {
  await mail(letter);
  await sleep(60_000);
  const { id } = await charge(bill);
  return { ok: true, id };
}

export async function anotherEffect() {
  const { id } = await refund(bill);
  await sleep(60_000);
  await mail(letter);
  return { ok: true, id };
}

export async function anEffectTooMany() {
  const { id } = await charge(bill);
  await mail(letter);
  await sleep(60_000);
  await mail(letter);
  return { ok: true, id };
}

export async function anEffectTooFew() {
  const { id } = await charge(bill);
  await sleep(60_000);
  return { ok: true, id };
}

export async function anEffectsDeadline() {
  const { id } = await slower.charge(bill);
  await sleep(60_000);
  await mail(letter);
  return { ok: true, id };
}

export async function whatIsMadeOfAReceipt() {
  const { id } = await charge(bill);
  await sleep(60_000);
  await mail(letter);
  return { ok: id.length > 9, id };
}

export async function aPlansInput() {
  const { id } = await charge({ ...bill, cents: bill.cents / 2 });
  await sleep(60_000);
  await mail(letter);
  return { ok: true, id };
}

export async function aTimersTime() {
  const { id } = await charge(bill);
  await sleep(61_000);
  await mail(letter);
  return { ok: true, id };
}

let calls = 0;

/** Tells what ambient things answer; the probe compares what two processes hear. */
export async function ambient() {
  const answers = {
    chance: Math.random(),
    'the clock': Date.now(),
    'the time since the process began': typeof performance,
    'a random identifier': typeof crypto,
    'the hour of a date': new Date(86_400_000).getHours(),
    'the time zone': Intl.DateTimeFormat().resolvedOptions().timeZone,
    'a number in words of the locale': (1_234.5).toLocaleString(),
    'the environment': typeof process,
    'the network': typeof fetch,
    'a counter of the module': ++calls,
  };
  await probe.tell(JSON.stringify(answers));
  const { id } = await charge(bill);
  await sleep(60_000);
  await mail(letter);
  return { ok: true, id };
}

export async function whatTheCollectorHasLeft() {
  new WeakRef({}).deref();
  return sound();
}
