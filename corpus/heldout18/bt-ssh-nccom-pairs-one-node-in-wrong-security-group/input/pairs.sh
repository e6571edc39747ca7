#!/bin/bash
# pairs.sh: nccom-test over all pairs after replacing trn-c
for p in "a b" "a c" "a d" "b c" "b d" "c d"; do set -- $p
  timeout 400 nccom-test allr -r 64 -N 2 -s "trn-$1 trn-$2" -b 8 -e 1GB -f 32 --non-interactive > pair_$1$2.log 2>&1; echo "pair $1$2 rc=$?" >> summary.txt
done
