/** Amounts in words. */

/** A whole number with its thousands apart: `12,345`. */
export function whole(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A number in a few characters: `12.3k`. */
export function short(n: number): string {
  if (n < 1_000) return String(n);
  if (n < 1_000_000) return `${(n / 1_000).toFixed(n < 10_000 ? 1 : 0)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** A number with its noun: `1 frame`, `341 frames`. */
export function amount(n: number, noun: string): string {
  return `${whole(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** A size: `885 bytes`, `12.3 kB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return amount(bytes, 'byte');
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Money of millionths: `$0.4200`. */
export function money(micro: number): string {
  return `$${(micro / 1_000_000).toFixed(micro !== 0 && Math.abs(micro) < 10_000_000 ? 4 : 2)}`;
}
