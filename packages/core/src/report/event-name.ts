/**
 * The form of the service's names, such as `call:recording-available`. Any other text may be the name
 * of a person.
 */
const EVENT_NAME = /^[A-Za-z\d:._/-]{1,128}$/;
/**
 * The maximum number of names to remember: code that keeps creating receivers with new names must not
 * fill the memory.
 */
const MAX_OTHERS = 1_000;
/** The configured names of another form. All receivers of a process share them. */
const others = new Set<string>();

/** Remembers the event names that were configured, so that they may be logged. */
export function tellEventNames(names: Iterable<string>): void {
  for (const name of names)
    if (!EVENT_NAME.test(name) && others.size < MAX_OTHERS) others.add(name);
}

/**
 * Whether a text that was sent as the name of an event may be logged: it looks like one, or is
 * configured.
 */
export const looksLikeEventName = (name: string): boolean =>
  EVENT_NAME.test(name) || others.has(name);
