/** As the names of the service: `call:recording-available`. Any other text may be the name of a person. */
const EVENT_NAME = /^[A-Za-z\d:._/-]{1,128}$/;
/** More are not remembered: who creates receivers with ever new names must not fill the memory. */
const MAX_OTHERS = 1_000;
/** The configured names of another form. All receivers of a process share them. */
const others = new Set<string>();

/** Remembers the names of events that somebody has configured, so that they can be told. */
export function tellEventNames(names: Iterable<string>): void {
  for (const name of names)
    if (!EVENT_NAME.test(name) && others.size < MAX_OTHERS) others.add(name);
}

/** Whether a text that was sent as the name of an event may be told: it looks like one, or is configured. */
export const looksLikeEventName = (name: string): boolean =>
  EVENT_NAME.test(name) || others.has(name);
