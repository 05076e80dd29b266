import expect from '../expect.cjs';
import type { Tests } from './runner.ts';

/** The names of the members that a type leaves to whoever implements it. */
export type OptionalMembers<Type> = {
  [Name in keyof Type]-?: object extends Pick<Type, Name> ? Name : never;
}[keyof Type];

/** All names of a union, which have to be complete. */
export const namesOf = <Name extends string>(names: Record<Name, true>): readonly Name[] =>
  Object.keys(names) as Name[];

/** What `without` names is missing, and nothing else is: the type and the tests say the same. */
export function membersAreAsSaid<Name extends string>(
  { it }: Pick<Tests, 'it'>,
  type: string,
  names: readonly Name[],
  subject: () => Readonly<Partial<Record<Name, unknown>>>,
  without: readonly string[],
): void {
  it(`has each optional member of ${type} that \`without\` does not name, and no other`, async () => {
    const missing = names.filter((name) => subject()[name] === undefined);
    expect(missing).toEqual(names.filter((name) => without.includes(name)));
  });
}
