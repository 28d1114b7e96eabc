/** What one stage of a run took: the time between the first word of it and the first of another. */
export interface StageCost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Most resident memory, by a look every 50 ms. */
  readonly peakMemoryMb: number;
}

export class StageClock {
  readonly #costs: Record<string, StageCost> = {};
  #stage = "start";
  #at = 0;
  #cpu: NodeJS.CpuUsage = { user: 0, system: 0 };
  #peakMemoryMb = 0;
  readonly #looking = setInterval(() => this.#look(), 50).unref();

  #look(): void {
    this.#peakMemoryMb = Math.max(this.#peakMemoryMb, process.memoryUsage.rss() / 2 ** 20);
  }

  enter(stage: string): void {
    if (stage === this.#stage) return;
    this.#close();
    this.#stage = stage;
  }

  /** By stage, in the order in which they were entered; stages that were entered again are added up. */
  end(): Readonly<Record<string, StageCost>> {
    clearInterval(this.#looking);
    this.#close();
    return this.#costs;
  }

  #close(): void {
    this.#look();
    const now = performance.now();
    const cpu = process.cpuUsage();
    const before = this.#costs[this.#stage] ?? { seconds: 0, cpuSeconds: 0, peakMemoryMb: 0 };
    const cpuSeconds = (cpu.user - this.#cpu.user + cpu.system - this.#cpu.system) / 1e6;
    this.#costs[this.#stage] = {
      seconds: before.seconds + (now - this.#at) / 1000,
      cpuSeconds: before.cpuSeconds + cpuSeconds,
      peakMemoryMb: Math.max(before.peakMemoryMb, this.#peakMemoryMb),
    };
    this.#peakMemoryMb = 0;
    this.#at = now;
    this.#cpu = cpu;
  }
}
