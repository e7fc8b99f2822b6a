// Looking things up by their time.

/** The last place whose number is not above `at`; -1 where there is none. */
export function atMost(numbers: Float64Array, at: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
