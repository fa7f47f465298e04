import { RepriseError } from './errors.js';

/** Text, money, fractions and caught errors with the same results on every engine, for pure code in place of locale functions. */

/**
 * Lower-cases the letters A–Z and nothing else. Case mapping beyond ASCII differs between engine releases.
 *
 * @param text any text
 */
export function asciiLower(text: string): string {
  if (!/[A-Z]/.test(text)) return text;
  let out = '';
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    out += unit >= 65 && unit <= 90 ? String.fromCharCode(unit + 32) : text[i];
  }
  return out;
}

/**
 * Throws a `RangeError` again, for a `catch` of pure code that makes data of whatever was thrown. A `RangeError` may be the
 * end of the stack, and how deep a stack is differs between engines and between runs of one engine: it must stop the
 * frame and never become a fault, a refusal or a default.
 *
 * @param thrown what was caught
 * @throws RangeError `thrown` itself, when it is one
 */
export function raiseExhaustion(thrown: unknown): void {
  if (thrown instanceof RangeError) throw thrown;
}

/** One unit of currency in the integer money of ledgers and receipts. */
export const MICRO = 1_000_000;

/**
 * Multiplies an integer by a fraction of integers and rounds down, without leaving the safe integers.
 *
 * @param amount a safe integer, for example micro-money
 * @param numerator a safe integer
 * @param denominator a positive safe integer
 * @throws RepriseError `invalid_argument` when an argument or the result is not a safe integer (a RangeError would be
 *   taken for the end of the stack)
 * @example mulDiv(1_500_000, 3, 1_000) // 4_500: three thousandths of 1.50
 */
export function mulDiv(amount: number, numerator: number, denominator: number): number {
  for (const n of [amount, numerator, denominator]) {
    if (!Number.isSafeInteger(n)) throw refusal('safe integers', n);
  }
  if (denominator <= 0) throw refusal('a positive denominator', denominator);
  const product = BigInt(amount) * BigInt(numerator);
  const divisor = BigInt(denominator);
  const quotient = product / divisor;
  const floor = product % divisor < 0n ? quotient - 1n : quotient;
  const result = Number(floor);
  if (!Number.isSafeInteger(result)) throw refusal('a result within the safe integers', String(floor));
  return result;
}

function refusal(expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_argument', 'invalid argument of mulDiv', { expected, actual });
}
