/** Of the whole process, its threads included. */
export interface Measured {
  readonly peakMemoryMb: number;
  readonly cpuSeconds: number;
}

export function measured(): Measured {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  return { peakMemoryMb: maxRSS / 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 };
}
