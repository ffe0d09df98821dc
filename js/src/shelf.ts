/** What an intent remembers. */
export interface Held {
  /** The key, the digest of the content that it stands for, and the server's token. */
  k?: string;
  c?: number;
  t?: string | null | undefined;
}

const PREFIX = "semel:";

/**
 * Returns the function that keeps what it is given, and returns what it keeps: in the
 * tab's session storage under a name, over reloads and apart from other tabs; without a
 * name, and where there is no such storage, in memory.
 */
export function shelf(name?: string): (next?: Held) => Held {
  let held: Held = {};
  return (next) => {
    held = next ?? held;
    try {
      if (!name) return held;
      if (next) sessionStorage[PREFIX + name] = JSON.stringify(next);
      else held = JSON.parse(sessionStorage[PREFIX + name] ?? "{}");
    } catch {
      name = "";
    }
    return held;
  };
}

/**
 * Says that what this tab sent by native form submission was answered, so that the
 * next one has a new key. Call it on the page that is the answer; a script cannot see
 * by itself that it is.
 */
export function answered(): void {
  try {
    for (const slot in sessionStorage) if (slot.startsWith(PREFIX)) delete sessionStorage[slot];
  } catch {
    // Without a storage there is nothing to forget.
  }
}
