/**
 * Returns a new key: a random UUID (version 4, RFC 9562). It works on pages without
 * TLS too, where crypto.randomUUID does not exist.
 */
export function newKey(): string {
  const digit = () => (crypto.getRandomValues(new Uint8Array(1))[0]! & 15).toString(16);
  return "11111111-1111-4111-a111-111111111111".replace(/1/g, digit);
}

/**
 * Tells contents apart, to know whether a key still fits (FNV-1a, 32 bits). It need
 * not be better: the server compares the requests themselves, and would answer a
 * collision with key-reused.
 */
export function digest(content: string): number {
  let sum = 0x811c9dc5;
  for (let i = content.length; i--; ) sum = Math.imul(sum ^ content.charCodeAt(i), 0x01000193);
  return sum;
}
