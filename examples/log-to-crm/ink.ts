import pc from 'picocolors';

const { FORCE_COLOR, NO_COLOR } = process.env;
const isTerminal = ({ isTTY }: { isTTY?: boolean }) => isTTY ?? false;

/** Colour on a terminal and none in a pipe. (By itself, picocolors colours wherever CI is set.) */
export const ink = pc.createColors(
  NO_COLOR ? false : FORCE_COLOR ? true : isTerminal(process.stdout),
);
