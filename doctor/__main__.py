"""`python -m neuron_doctor`."""

from neuron_doctor.cli import main

main()
