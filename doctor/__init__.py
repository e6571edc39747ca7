"""neuron-doctor: why a distributed job on AWS Trainium or Inferentia failed, hung or slowed down."""
